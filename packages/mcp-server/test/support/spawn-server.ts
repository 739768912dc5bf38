import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The program that the package ships. */
export const program = fileURLToPath(new URL("../../dist/start/cli.js", import.meta.url));

/** The environment of a server process: no config of this user, plain processes allowed. */
export const serverEnv = {
  PATH: process.env.PATH ?? "",
  HOME: "/nonexistent",
  SANDKIT_ALLOW_LOCAL: "1",
};

/** A server process spoken to by hand, line by line. */
export class RawServer implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<[number | null, NodeJS.Signals | null]>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [program, ...args], { env: { ...serverEnv, ...env } });
    this.child.stdout.setEncoding("utf8").on("data", (text) => (this.stdout += text));
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.child.stdin.on("error", () => undefined);
    this.exited = once(this.child, "close") as typeof this.exited;
  }

  send(message: Record<string, unknown>): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Sends a request and waits for its answer. */
  async ask(id: number, method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    this.send({ id, method, params });
    return await this.answer(id);
  }

  async answer(id: number): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.messages().find((message) => message.id === id && !("method" in message));
      if (found !== undefined) return found;
      const ended = await Promise.race([
        once(this.child.stdout, "data").then(() => false),
        this.exited.then(() => true),
      ]);
      if (ended) throw new Error(`the server ended without an answer: ${this.stderr}`);
    }
  }

  /** Everything on stdout; throws for anything that is no JSON-RPC message. */
  messages(): Record<string, unknown>[] {
    const lines = this.stdout.split("\n").slice(0, -1);
    return lines.map((line) => {
      const message = JSON.parse(line);
      if (message.jsonrpc !== "2.0") throw new Error(`not JSON-RPC: ${line}`);
      return message;
    });
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "raw", version: "1" };
    await this.ask(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.send({ method: "notifications/initialized" });
  }

  /** Calls a tool and gives the text of its answer. */
  async call(id: number, name: string, input: Record<string, unknown>): Promise<string> {
    const answer = await this.ask(id, "tools/call", { name, arguments: input });
    const result = answer.result as { content: { text: string }[] } | undefined;
    return result?.content[0]?.text ?? JSON.stringify(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

/** Whether a process of this machine lives. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}
