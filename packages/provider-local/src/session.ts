import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import {
  type Capabilities,
  type CreateOptions,
  capabilities,
  type ProviderProcess,
  type ProviderSession,
  requireFeature,
  type SandboxInfo,
  type SandboxRef,
  type SpawnOptions,
} from "@sandkit/core";
import { Once } from "@sandkit/core/kit";
import { environment } from "./environment.js";
import { failure, providerName } from "./errors.js";
import { localFiles } from "./files.js";
import type { Folder } from "./folder.js";
import { LocalProcess } from "./process.js";

/** What plain processes of a host can honour. */
export const localCapabilities: Capabilities = capabilities({
  isolation: "none",
  features: {
    exec: "native",
    "exec.argv": "native",
    "exec.stdin": "native",
    "exec.stderr": "native",
    "exec.stream": "native",
    "exec.killTree": "native",
    "process.background": "native",
    files: "native",
    "files.stream": "native",
    "files.symlink": "native",
    "network.full": "native",
    "lifetime.ttl": "native",
    "lifetime.idle": "native",
    attach: "native",
    list: "native",
    git: "emulated",
  },
});

const shells = ["sh", "bash"];
const interpreters = ["python3", "node"];

/** One sandbox: a folder of the host, and the processes that were started in it. */
export class LocalSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files = localFiles;
  readonly #folder: Folder;
  readonly #python: string;
  readonly #options: CreateOptions;
  readonly #createdAt = new Date();
  /** All that have a supervisor, and those that are just being started. */
  readonly #processes = new Set<Promise<LocalProcess>>();
  #count = 0;
  #ended = false;
  readonly #ending = new Once<void>();

  private constructor(id: string, folder: Folder, python: string, options: CreateOptions, hasGit: boolean) {
    const { features } = localCapabilities;
    this.capabilities = { ...localCapabilities, features: { ...features, git: hasGit && features.git } };
    this.ref = { provider: providerName, id };
    this.workdir = folder.workdir;
    this.#folder = folder;
    this.#python = python;
    this.#options = options;
  }

  /** A session in a folder that is there. */
  static async open(id: string, folder: Folder, python: string, options: CreateOptions): Promise<LocalSession> {
    const [git] = await found(["git"], environment(folder, python, options));
    return new LocalSession(id, folder, python, options, git !== undefined);
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    if (options.user !== undefined) requireFeature(this.#owner, "exec.user", 'option "user"');
    if (options.pty !== undefined) requireFeature(this.#owner, "exec.pty", 'option "pty"');
    if (this.#ended) {
      throw failure("SANDBOX_LOST", "exec", `sandbox ${this.ref.id} was destroyed: create a new one`);
    }
    const starting = LocalProcess.start(`exec-${++this.#count}`, this.#python, {
      command,
      cwd: options.cwd ?? this.workdir,
      env: { ...this.#environment, ...options.env },
      stdin: options.stdin,
      mergeStderr: options.mergeStderr ?? false,
    });
    this.#processes.add(starting);
    const forget = () => this.#processes.delete(starting);
    starting.then((process) => process.closed.then(forget), forget);
    return starting;
  }

  async info(): Promise<SandboxInfo> {
    return {
      ref: this.ref,
      state: !this.#ended && (await this.#folder.exists()) ? "running" : "gone",
      origin: "created",
      name: this.#options.name,
      template: this.#options.template,
      createdAt: this.#createdAt,
      labels: this.#options.labels ?? {},
      shells: await found(shells, this.#environment),
      interpreters: await found(interpreters, this.#environment),
    };
  }

  destroy(): Promise<void> {
    this.#ended = true;
    return this.#ending.run(() => this.#end());
  }

  get #owner() {
    return { name: providerName, capabilities: this.capabilities };
  }

  get #environment() {
    return environment(this.#folder, this.#python, this.#options);
  }

  async #end(): Promise<void> {
    const started = await Promise.allSettled(this.#processes);
    const running = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(running.map((process) => process.release()));
    await this.#folder.remove();
  }
}

/** Those of the names that the PATH of programs leads to. */
async function found(names: readonly string[], { PATH = "" }: Record<string, string>): Promise<string[]> {
  const folders = PATH.split(":");
  const reachable = async (name: string) => {
    const tries = folders.map((folder) => access(join(folder, name), constants.X_OK));
    return (await Promise.allSettled(tries)).some((one) => one.status === "fulfilled");
  };
  const answers = await Promise.all(names.map(reachable));
  return names.filter((_, index) => answers[index]);
}
