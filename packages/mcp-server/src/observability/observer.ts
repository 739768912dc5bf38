import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { SandboxError } from "@sandkit/core";
import type { Principal } from "../principal.js";
import type { LiveRun } from "../runs/live-run.js";
import { version } from "../version.js";
import { log } from "./log.js";
import { Metrics } from "./metrics.js";
import { traced } from "./tracing.js";

const callSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The numbers that are read when somebody looks. */
export interface Readings {
  readonly sandboxes: () => number;
  readonly runs: () => number;
}

/** A call of a tool. */
export interface ObservedCall {
  readonly tool: string;
  readonly principal: Principal;
  readonly context: ServerContext;
  /** As negotiated. */
  readonly protocolVersion: string | undefined;
}

/** Sees what happens: counts it, times it, logs it, and puts it into the caller's trace. */
export class Observer {
  readonly metrics = new Metrics();
  readonly #calls = this.metrics.counter("sandkit_calls_total", "Calls of tools.", "tool", "outcome");
  readonly #callSeconds = this.metrics.histogram(
    "sandkit_call_duration_seconds",
    "Time of a call of a tool.",
    callSeconds,
    "tool",
  );
  readonly #errors = this.metrics.counter("sandkit_errors_total", "Calls that could not be done.", "code");
  readonly #runs = this.metrics.counter(
    "sandkit_runs_total",
    "Runs of code and commands, by how they ended.",
    "reason",
  );
  readonly #runSeconds = this.metrics.histogram("sandkit_run_duration_seconds", "Time of a run.", callSeconds);
  readonly #output = this.metrics.counter("sandkit_output_bytes_total", "Written by programs.", "stream");
  readonly #made = this.metrics.counter("sandkit_sandboxes_created_total", "Sandboxes made, by outcome.", "outcome");
  readonly #makeSeconds = this.metrics.histogram(
    "sandkit_sandbox_create_duration_seconds",
    "Time until a sandbox can be used.",
    callSeconds,
  );
  readonly #told = new WeakSet<LiveRun>();

  constructor(readings: Readings) {
    this.metrics.gauge("sandkit_sandboxes", "Sandboxes that live.", readings.sandboxes);
    this.metrics.gauge("sandkit_runs", "Runs under way.", readings.runs);
    const started = Date.now() / 1000 - process.uptime();
    this.metrics.gauge("process_start_time_seconds", "Start of the server, since 1970.", () => started);
    this.metrics.gauge("process_resident_memory_bytes", "Memory of the server.", () => process.memoryUsage.rss());
    this.metrics.reading("process_cpu_seconds_total", "Time of processors that the server took.", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
    this.metrics.counter("sandkit_build_info", "The version that runs.", "version").add(1, version);
  }

  /** Does a call of a tool, and sees how it comes out. */
  async call(call: ObservedCall, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
    const { tool, principal, context, protocolVersion } = call;
    const started = performance.now();
    const attributes = {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "network.transport": context.http === undefined ? "pipe" : "tcp",
      "jsonrpc.request.id": String(context.mcpReq.id),
      "sandkit.principal": principal.id,
      ...(protocolVersion === undefined ? {} : { "mcp.protocol.version": protocolVersion }),
      ...(context.sessionId === undefined ? {} : { "mcp.session.id": context.sessionId }),
    };
    const options = { kind: "SERVER", attributes, carrier: context.mcpReq._meta } as const;
    return await traced(`tools/call ${tool}`, options, async (span) => {
      const result = await work();
      const seen = outcomeOf(result);
      const seconds = (performance.now() - started) / 1000;
      this.#calls.add(1, tool, seen.outcome);
      this.#callSeconds.observe(seconds, tool);
      if (seen.code !== undefined) {
        this.#errors.add(1, seen.code);
        span.fail(seen.code, seen.message);
      }
      span.set(spanAttributes(seen));
      const ms = Math.round(seconds * 1000);
      const { message: _, ...told } = seen;
      log.info("call", { tool, principal: principal.id, ...told, ms, traceId: span.traceId });
      return result;
    });
  }

  /** Makes a sandbox, and sees how long it takes. */
  async makeSandbox<Made>(provider: string, template: string | undefined, make: () => Promise<Made>): Promise<Made> {
    const started = performance.now();
    const attributes = {
      "sandkit.provider": provider,
      ...(template === undefined ? {} : { "sandkit.template": template }),
    };
    return await traced("sandbox create", { attributes }, async () => {
      try {
        const made = await make();
        this.#made.add(1, "made");
        this.#makeSeconds.observe((performance.now() - started) / 1000);
        return made;
      } catch (error) {
        this.#made.add(1, error instanceof SandboxError ? error.code : "error");
        throw error;
      }
    });
  }

  /** Is told whenever a run has news, and counts its end. */
  run(run: LiveRun): void {
    const { outcome } = run;
    if (outcome === undefined || this.#told.has(run)) return;
    this.#told.add(run);
    this.#runs.add(1, "used" in outcome ? outcome.used.result.ended.reason : "failed");
    this.#runSeconds.observe(run.elapsedMs / 1000);
    this.#output.add(run.log.bytes.stdout, "stdout");
    this.#output.add(run.log.bytes.stderr, "stderr");
  }
}

interface Seen {
  readonly outcome: "ok" | "running" | "error";
  readonly code?: string;
  readonly message?: string;
  readonly sandbox?: string;
  readonly process?: string;
  readonly reason?: string;
  readonly exitCode?: number;
}

/** What the record of a result tells. */
function outcomeOf({ isError, _meta }: CallToolResult): Seen {
  const run = (_meta?.["sandkit/run"] ?? {}) as Omit<Seen, "outcome"> & { readonly running?: boolean };
  const error = (_meta?.["sandkit/error"] ?? {}) as { readonly code?: string; readonly message?: string };
  const { sandbox, process: handle, reason, exitCode } = run;
  return {
    outcome: isError ? "error" : run.running === true ? "running" : "ok",
    ...(isError ? { code: error.code ?? "UNKNOWN" } : {}),
    ...(error.message === undefined ? {} : { message: error.message }),
    // The seal is left out: whoever reads logs cannot use the sandbox.
    ...(sandbox === undefined ? {} : { sandbox: sandbox.slice(0, sandbox.lastIndexOf(".")) }),
    ...(handle === undefined ? {} : { process: handle }),
    ...(reason === undefined ? {} : { reason }),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function spanAttributes({ sandbox, process: run, reason, exitCode }: Seen) {
  return {
    ...(sandbox === undefined ? {} : { "sandkit.sandbox": sandbox }),
    ...(run === undefined ? {} : { "sandkit.process": run }),
    ...(reason === undefined ? {} : { "sandkit.run.reason": reason }),
    ...(exitCode === undefined ? {} : { "process.exit.code": exitCode }),
  };
}
