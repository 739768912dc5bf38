import { appendFile } from "node:fs/promises";
import { type Contact, SandboxError } from "@sandkit/core";
import { report } from "../report.js";
import type { AuditSettings } from "./audit-settings.js";
import type { OmittedContacts } from "./contact-budget.js";

/** One line. What ran is in it as a hash alone. */
export interface AuditEntry {
  /** `begin`: about to run, where records are required. `call`: answered. `end`: a run that went on after its answer. */
  readonly event: "begin" | "call" | "end";
  readonly principal: string;
  readonly tool: string;
  /** The backend's id, with which nobody can use it over this server. */
  readonly sandbox?: string | undefined;
  readonly process?: string | undefined;
  /** Of the code, command, input or content, in hex. */
  readonly sha256?: string | undefined;
  readonly decision?: "allowed" | "denied" | undefined;
  readonly decidedBy?: "policy" | "user" | "default" | undefined;
  /** `ok`, `running`, the reason for which a run ended, or the code of an error. */
  readonly outcome?: string | undefined;
  readonly exitCode?: number | null | undefined;
  readonly durationMs?: number | undefined;
  /** Bytes of the parameters. */
  readonly bytesIn?: number | undefined;
  /** Bytes that the run wrote, or of the answer. */
  readonly bytesOut?: number | undefined;
}

/** A host that a sandbox has contacted, or was kept from. */
export interface AuditedContact extends Omit<Contact, "at"> {
  readonly event: "contact";
  /** When the contact began; `time` is its end. */
  readonly began: string;
  readonly principal: string;
  readonly sandbox: string;
}

/** Contacts of a sandbox that were too many for a line each. */
export interface AuditedContacts extends Omit<OmittedContacts, "at"> {
  readonly event: "contacts";
  /** When the first of them began; `time` is about the end of the last. */
  readonly began: string;
  readonly principal: string;
  readonly sandbox: string;
}

type AnyEntry = AuditEntry | AuditedContact | AuditedContacts;

/** Writes who did what where, one line of JSON each. */
export class AuditLog {
  readonly #settings: AuditSettings;
  #writing: Promise<unknown> = Promise.resolve();
  #failing = false;

  constructor(settings: AuditSettings) {
    this.#settings = settings;
  }

  /** Before something runs. @throws SandboxError `UNAVAILABLE` where records are required and cannot be written */
  async begin(entry: Omit<AuditEntry, "event">): Promise<void> {
    if (!this.#settings.required) return;
    const problem = await this.#write({ event: "begin", ...entry });
    if (problem === undefined) return;
    const detail = problem instanceof Error ? problem.message : String(problem);
    throw new SandboxError(
      "UNAVAILABLE",
      `nothing ran: the audit log cannot be written (${detail}), and "audit.required" of the config is true: tell the user to make it writable`,
      { cause: problem },
    );
  }

  /** Never throws: what cannot be written is told to whoever runs the server, once until it works again. */
  add(entry: AnyEntry): void {
    // Waited for by the next entry and by `close`; never rejects.
    void this.#write(entry);
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  /** In order; gives what went wrong. */
  #write(entry: AnyEntry): Promise<unknown> {
    const line = `${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`;
    const written = this.#writing.then(() => this.#put(line));
    this.#writing = written;
    return written;
  }

  async #put(line: string): Promise<unknown> {
    const { to } = this.#settings;
    try {
      // Opened anew each time: whoever moves a full file away gets a new one.
      if (to === "stderr") process.stderr.write(line);
      else await appendFile(to, line, { mode: 0o600 });
      if (this.#failing) report("the audit log can be written again; what happened meanwhile is not in it");
      this.#failing = false;
      return undefined;
    } catch (error) {
      if (!this.#failing) report("the audit log cannot be written: calls are not recorded", error);
      this.#failing = true;
      return error;
    }
  }
}
