import { posix } from "node:path";
import {
  type CreateOptions,
  type KernelLanguage,
  type KernelOptions,
  messageOf,
  type ProviderKernel,
  type ProviderProcess,
  type ProviderSession,
  SandboxError,
  type SandboxInfo,
  type SpawnOptions,
} from "@sandkit/core";
import type { SandboxChild } from "./child-process.js";
import { providerName } from "./errors.js";
import { wasmFiles } from "./files.js";
import { loadCells } from "./javascript-cells.js";
import { type KernelKind, WasmKernel } from "./kernel.js";
import type { RequestDesk } from "./network/request-desk.js";
import { brief } from "./packages/brief.js";
import { type CommandIo, CommandProcess } from "./packages/command-process.js";
import { type PipContext, runPip } from "./packages/pip.js";
import { pipArguments } from "./packages/pip-command.js";
import { type PackageSupply, SandboxPackages } from "./packages/sandbox-packages.js";
import { WasmProcess } from "./process.js";
import { interpreterOf } from "./program-names.js";
import type { HostCommandResult, Job } from "./protocol.js";

/** Of a file of requirements, in bytes. */
const longestRequirements = 1024 * 1024;
const longestCommandMs = 5 * 60_000;

/** Where a sandbox gets packages from. */
export interface Packaging extends PackageSupply {
  /** Whether what code imports is installed unasked. */
  readonly autoInstall: boolean;
}

/** One sandbox: its child process, and what core may do with it. */
export class WasmSession implements ProviderSession {
  readonly ref: ProviderSession["ref"];
  readonly workdir: string;
  readonly capabilities: ProviderSession["capabilities"];
  readonly files: ProviderSession["files"];
  readonly #child: SandboxChild;
  readonly #options: CreateOptions;
  readonly #packages: SandboxPackages;
  readonly #autoInstall: boolean;
  /** Absent where the sandbox has no network. */
  readonly #desk: RequestDesk | undefined;
  readonly #createdAt = new Date();
  readonly #maxKernels: number;
  /** Those that live, and those that start. */
  readonly #kernels = new Set<WasmKernel>();
  #nextJob = 1;

  constructor(
    id: string,
    workdir: string,
    child: SandboxChild,
    capabilities: ProviderSession["capabilities"],
    options: CreateOptions,
    { autoInstall, ...supply }: Packaging,
    desk: RequestDesk | undefined,
    maxKernels: number,
  ) {
    this.#maxKernels = maxKernels;
    this.ref = { provider: providerName, id };
    this.workdir = workdir;
    this.#child = child;
    this.capabilities = capabilities;
    this.#options = options;
    this.files = wasmFiles(child);
    this.#packages = new SandboxPackages(child, supply);
    this.#autoInstall = autoInstall;
    this.#desk = desk;
    child.onCommand((argv, cwd, signal) => this.#command(argv, cwd, signal));
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    const [program = "", ...args] = command;
    const cwd = options.cwd ?? this.workdir;
    const id = `process-${this.#nextJob++}`;
    const pip = pipArguments(command);
    if (pip) {
      await this.#checkDirectory(cwd);
      const run = (io: CommandIo) => runPip(pip, { ...io, ...this.#pipIn(cwd) });
      return new CommandProcess(id, options.mergeStderr ?? false, this.#child.over, run);
    }
    const interpreter = interpreterOf(program);
    const process = new WasmProcess(this.#child, id, this.ref.id, interpreter);
    const { mergeStderr = false, stdin } = options;
    const job = { kind: "program", interpreter, argv: [program, ...args], stdin, mergeStderr } as const;
    process.pid = await this.#start(id, process, job, cwd, options);
    return process;
  }

  async kernel(options: KernelOptions): Promise<ProviderKernel> {
    const kind = await this.#kernelKind(options.language);
    const { interpreter } = kind;
    this.#requireRoom();
    const id = `kernel-${this.#nextJob++}`;
    const kernel = new WasmKernel(this.#child, id, this.ref.id, kind);
    this.#kernels.add(kernel);
    const forget = () => void this.#kernels.delete(kernel);
    void kernel.over.then(forget);
    try {
      await this.#start(id, kernel, { kind: "kernel", interpreter }, options.cwd ?? this.workdir, options);
    } catch (error) {
      forget();
      throw error;
    }
    return kernel;
  }

  #requireRoom(): void {
    if (this.#kernels.size < this.#maxKernels) return;
    const next = 'close one, or raise the option "maxKernels" of wasm()';
    throw new SandboxError("QUOTA", `${this.#maxKernels} kernels live in this sandbox already: ${next}`, {
      provider: providerName,
      operation: "kernel",
      sandboxId: this.ref.id,
    });
  }

  async #kernelKind(language: KernelLanguage): Promise<KernelKind> {
    if (language === "python") return { interpreter: "python", encode: (code) => code };
    if (language === "javascript" || language === "typescript") {
      return { interpreter: "javascript", encode: await loadCells(language) };
    }
    throw new SandboxError(
      "KERNEL_UNAVAILABLE",
      `there is no ${language} in this sandbox: it has kernels for python, javascript and typescript`,
      { provider: providerName, operation: "kernel", sandboxId: this.ref.id },
    );
  }

  async info(): Promise<SandboxInfo> {
    return {
      ref: this.ref,
      state: this.#child.lost === undefined ? "running" : "gone",
      origin: "created",
      name: this.#options.name,
      template: this.#options.template ?? "python",
      createdAt: this.#createdAt,
      labels: this.#options.labels ?? {},
      shells: ["bash", "sh"],
      interpreters: ["python3", "python", "node"],
    };
  }

  async destroy(): Promise<void> {
    this.#desk?.close();
    await this.#child.destroy();
  }

  async #start(
    id: string,
    observer: WasmProcess | WasmKernel,
    job: Job,
    cwd: string,
    { env, signal }: Pick<SpawnOptions, "env" | "signal">,
  ): Promise<number> {
    signal?.throwIfAborted();
    this.#child.observe(id, observer);
    const what = { operation: job.kind === "kernel" ? "kernel" : "spawn", subject: cwd };
    const giveUp = () => void this.#child.call("end", [id], what).catch(() => undefined);
    signal?.addEventListener("abort", giveUp);
    try {
      const place = {
        cwd,
        env: this.#environment(env),
        autoInstall: this.#autoInstall,
        network: this.#desk !== undefined,
      };
      const pid = await this.#child.call("start", [id, job, place], what);
      signal?.throwIfAborted();
      return pid;
    } catch (error) {
      this.#child.unobserve(id);
      throw error;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #environment(env: SpawnOptions["env"]): Record<string, string> {
    return {
      HOME: "/home/user",
      PATH: "/usr/local/bin:/usr/bin:/bin",
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      MPLBACKEND: "agg",
      ...this.#options.env,
      ...env,
    };
  }

  /** What `pip` works on, for one that runs in this directory. */
  #pipIn(cwd: string): Omit<PipContext, "write" | "signal"> {
    const readText = async (path: string) => {
      const stream = await this.files.read(posix.resolve("/", cwd, path), { length: longestRequirements + 1 });
      const bytes = await new Response(stream).arrayBuffer();
      if (bytes.byteLength <= longestRequirements) return new TextDecoder().decode(bytes);
      throw new SandboxError("TOO_LARGE", `${path} is larger than ${longestRequirements} bytes`, {
        provider: providerName,
        operation: "packages",
        sandboxId: this.ref.id,
      });
    };
    return { packages: this.#packages, readText };
  }

  /** A command of ours that a guest asks for. */
  async #command(argv: readonly string[], cwd: string, given: AbortSignal): Promise<HostCommandResult> {
    const written = { stdout: "", stderr: "" };
    const write: PipContext["write"] = (stream, text) => {
      written[stream] += text;
    };
    const signal = AbortSignal.any([given, AbortSignal.timeout(longestCommandMs)]);
    const context = { ...this.#pipIn(cwd), write, signal };
    try {
      const exitCode = await this.#runCommand(argv, context);
      return { exitCode, ...written };
    } catch (error) {
      return { exitCode: 1, ...written, stderr: `${written.stderr}ERROR: ${messageOf(error)}\n` };
    }
  }

  async #runCommand(argv: readonly string[], context: PipContext): Promise<number> {
    if (argv[0] === "import") {
      const name = await this.#packages.packageOf(argv[1] ?? "");
      return runPip(["install", name], context);
    }
    const pip = pipArguments(argv);
    if (pip) return runPip(pip, context);
    context.write("stderr", `${brief(argv[0] ?? "")}: not found\n`);
    return 127;
  }

  async #checkDirectory(cwd: string): Promise<void> {
    const what = { operation: "spawn", subject: cwd };
    const place = await this.#child.call("stat", [cwd, true], what);
    if (place.type !== "directory") {
      throw new SandboxError("NOT_DIRECTORY", `spawn: cwd ${JSON.stringify(cwd)} is not a directory`, {
        provider: providerName,
        operation: "spawn",
        sandboxId: this.ref.id,
      });
    }
  }
}
