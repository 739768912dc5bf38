import { createHash } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Decision } from "../approval/approvals.js";
import type { Principal } from "../principal.js";
import type { LiveRun } from "../runs/live-run.js";
import type { ContactWatcher } from "../watch-contacts.js";
import type { AuditEntry, AuditedContact, AuditedContacts, AuditLog } from "./audit-log.js";

/** What is known of a call before it runs. */
export interface AuditedCall {
  readonly tool: string;
  readonly principal: Principal;
  readonly input: Readonly<Record<string, unknown>> | undefined;
  /** What runs or is written. */
  readonly text: string | undefined;
}

type Known = Pick<AuditEntry, "tool" | "principal" | "sha256" | "decision" | "decidedBy" | "bytesIn">;

/** Turns calls and runs into lines of the audit log. */
export class Auditor {
  readonly #log: AuditLog;
  /** Of runs that go on after their answer. */
  readonly #going = new Map<string, Known>();

  constructor(log: AuditLog) {
    this.#log = log;
  }

  /**
   * Does a call and records it.
   * @param decided Absent: it was refused before anybody decided on it.
   * @param work Calls `begin` before anything of it runs.
   */
  async call(
    call: AuditedCall,
    decided: Decision | undefined,
    findRun: (id: string) => LiveRun | undefined,
    work: (begin: () => Promise<void>) => Promise<CallToolResult>,
  ): Promise<CallToolResult> {
    const started = performance.now();
    const known: Known = {
      principal: call.principal.id,
      tool: call.tool,
      ...(call.text === undefined ? {} : { sha256: createHash("sha256").update(call.text).digest("hex") }),
      ...(decided && { decision: decided.decision, decidedBy: decided.by }),
      bytesIn: Buffer.byteLength(JSON.stringify(call.input ?? {})),
    };
    const result = await work(async () => {
      if (decided?.decision === "allowed") await this.#log.begin({ ...known, ...sandboxOf(call.input?.sandbox_id) });
    });
    const seen = seenIn(result, call.input);
    this.#log.add({ event: "call", ...known, ...seen, durationMs: Math.round(performance.now() - started) });
    if (seen.outcome === "running" && seen.process !== undefined && !this.#going.has(seen.process)) {
      this.#going.set(seen.process, known);
      // It may have ended since it answered.
      const run = findRun(seen.process);
      if (run !== undefined) this.run(run);
    }
    return result;
  }

  /** Is told whenever a run has news, and records the end of one that went on after its answer. */
  run(run: LiveRun): void {
    const known = this.#going.get(run.id);
    if (known === undefined || run.outcome === undefined) return;
    this.#going.delete(run.id);
    const ended = "used" in run.outcome ? run.outcome.used.result.ended : undefined;
    const { stdout, stderr } = run.log.bytes;
    this.#log.add({
      event: "end",
      ...known,
      ...sandboxOf(run.handle),
      process: run.id,
      outcome: ended?.reason ?? "failed",
      ...(ended === undefined ? {} : { exitCode: ended.exitCode }),
      durationMs: Math.round(run.elapsedMs),
      bytesOut: stdout + stderr,
    });
  }

  /** A call of something that no tool is called. */
  unknownTool({ id }: Principal, input: AuditedCall["input"]): void {
    const bytesIn = Buffer.byteLength(JSON.stringify(input ?? {}));
    this.#log.add({ event: "call", principal: id, tool: "unknown", outcome: "INVALID", bytesIn });
  }

  /** Records what sandboxes of somebody contact. */
  contactsOf({ id: principal }: Principal): ContactWatcher {
    const add = (entry: AuditedContact | AuditedContacts) => this.#log.add(entry);
    return (sandbox) => ({
      contact: ({ at, ...contact }) =>
        add({ event: "contact", principal, sandbox, began: at.toISOString(), ...contact }),
      omitted: ({ at, ...sum }) => add({ event: "contacts", principal, sandbox, began: at.toISOString(), ...sum }),
    });
  }

  async close(): Promise<void> {
    await this.#log.close();
  }
}

/** Without the seal: whoever reads the log cannot use the sandbox. */
function sandboxOf(handle: unknown): { readonly sandbox?: string } {
  if (typeof handle !== "string") return {};
  const border = handle.lastIndexOf(".");
  // What a client made up is not repeated.
  return border > 0 && /^[\w.-]{1,200}$/.test(handle) ? { sandbox: handle.slice(0, border) } : {};
}

function seenIn(
  { content, isError, _meta, structuredContent }: CallToolResult,
  input: AuditedCall["input"],
): Omit<AuditEntry, "event" | "principal" | "tool"> {
  const run = (_meta?.["sandkit/run"] ?? {}) as {
    readonly sandbox?: string;
    readonly process?: string;
    readonly running?: boolean;
    readonly reason?: string;
    readonly exitCode?: number | null;
    readonly bytes?: { readonly stdout: number; readonly stderr: number };
  };
  const error = (_meta?.["sandkit/error"] ?? {}) as { readonly code?: string };
  const made = structuredContent as { readonly sandbox_id?: unknown } | undefined;
  const shown = content.reduce((sum, block) => sum + (block.type === "text" ? Buffer.byteLength(block.text) : 0), 0);
  return {
    ...sandboxOf(run.sandbox ?? made?.sandbox_id ?? input?.sandbox_id),
    ...(run.process === undefined ? {} : { process: run.process }),
    outcome: isError ? (error.code ?? "UNKNOWN") : run.running ? "running" : (run.reason ?? "ok"),
    ...(run.exitCode === undefined ? {} : { exitCode: run.exitCode }),
    bytesOut: run.bytes === undefined ? shown : run.bytes.stdout + run.bytes.stderr,
  };
}
