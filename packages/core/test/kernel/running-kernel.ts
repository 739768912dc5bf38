import { startAgentKernel } from "../../src/agent/agent-kernel.js";
import type { KernelOptions, ProviderCell, ProviderKernel } from "../../src/index.js";
import { spawnHere } from "./controlled-process.js";

/** What a cell did, with its output as text. */
export interface SeenCell extends ProviderCell {
  readonly stdout: string;
  readonly stderr: string;
}

/** A kernel on this machine, for as long as a test lasts. */
export class RunningKernel implements AsyncDisposable {
  readonly kernel: ProviderKernel;

  static async start(
    options: KernelOptions,
    names: Readonly<Record<string, string>> = {},
    env: Record<string, string> = {},
  ): Promise<RunningKernel> {
    const sandbox = { provider: "test", sandboxId: "here" };
    return new RunningKernel(await startAgentKernel(spawnHere(names, env), { ...options, ...sandbox }));
  }

  private constructor(kernel: ProviderKernel) {
    this.kernel = kernel;
  }

  async run(code: string): Promise<SeenCell> {
    const chunks: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
    const cell = await this.kernel.execute(code, { onOutput: (stream, bytes) => void chunks[stream].push(bytes) });
    const text = (stream: "stdout" | "stderr") => Buffer.concat(chunks[stream]).toString();
    return { ...cell, stdout: text("stdout"), stderr: text("stderr") };
  }

  /** Runs a cell and interrupts it once it has printed something. */
  async interrupted(code: string): Promise<SeenCell> {
    let begun = () => {};
    const printed = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const chunks: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
    const settled = this.kernel.execute(code, {
      onOutput: (stream, bytes) => {
        chunks[stream].push(bytes);
        begun();
      },
    });
    await Promise.race([printed, settled]);
    await this.kernel.interrupt();
    const cell = await settled;
    const text = (stream: "stdout" | "stderr") => Buffer.concat(chunks[stream]).toString();
    return { ...cell, stdout: text("stdout"), stderr: text("stderr") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.kill();
  }
}
