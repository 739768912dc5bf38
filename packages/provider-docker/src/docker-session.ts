import {
  type Capabilities,
  capabilities,
  type FileInfo,
  type KernelOptions,
  type ProviderFiles,
  type ProviderKernel,
  type ProviderProcess,
  type ProviderSession,
  SandboxError,
  type SandboxInfo,
  type SandboxRef,
  type SnapshotInfo,
  type SpawnOptions,
} from "@sandkit/core";
import { archivePlanOf } from "./archive-plan.js";
import { providerName } from "./errors.js";
import { freeze } from "./freeze.js";
import { pausedError } from "./pause-state.js";
import { type Box, infoOf } from "./session.js";
import { takeSnapshot } from "./take-snapshot.js";

/** Makes sandboxes with the options and the files of one that lives. */
export type ForkSession = (count: number, original: ProviderSession) => Promise<ProviderSession[]>;

/**
 * A session of a container: what its agent (or the plain mode) gives, and what the engine adds. While it is paused, all
 * that needs it running is refused.
 */
export class DockerSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: ProviderFiles;
  readonly native: unknown;
  readonly process?: ProviderSession["process"];
  readonly kernel?: ProviderSession["kernel"];
  readonly port?: ProviderSession["port"];
  readonly extend?: ProviderSession["extend"];
  readonly onContact?: ProviderSession["onContact"];
  readonly onUse?: ProviderSession["onUse"];
  readonly fork?: ProviderSession["fork"];
  readonly #inner: ProviderSession;
  readonly #box: Box;

  /** @param fork Absent where the options of the sandbox are not known: its creator was another program. */
  constructor(inner: ProviderSession, box: Box, fork?: ForkSession) {
    this.#inner = inner;
    this.#box = box;
    this.ref = inner.ref;
    this.workdir = inner.workdir;
    this.native = inner.native;
    const { features } = inner.capabilities;
    this.capabilities = capabilities({
      ...inner.capabilities,
      features: { ...features, fork: fork ? features.fork : false },
    });
    this.files = this.#guarded(inner.files);
    const { process, kernel, port, extend, onContact, onUse } = inner;
    if (onContact) this.onContact = (listener) => onContact.call(inner, listener);
    if (onUse) this.onUse = (listener) => onUse.call(inner, listener);
    if (process) this.process = (id) => this.#use("process", () => process.call(inner, id));
    if (kernel) {
      this.kernel = (options: KernelOptions): Promise<ProviderKernel> =>
        this.#use(
          "kernel",
          () => kernel.call(inner, options),
          (late) => late.kill(),
        );
    }
    if (port) this.port = (...args) => this.#use("port", () => port.apply(inner, args));
    if (extend) this.extend = (ttlMs) => this.#use("extend", () => extend.call(inner, ttlMs));
    if (fork) this.fork = (count) => this.#use("fork", () => fork(count, this));
  }

  spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    return this.#use(
      "spawn",
      () => this.#inner.spawn(command, options),
      (late) => late.kill("SIGKILL"),
    );
  }

  async pause(): Promise<void> {
    const { engine, container, standstill, record } = this.#box;
    if (standstill.paused) return;
    // Before: from then on silence is no sign of death.
    standstill.set(true);
    try {
      await freeze(engine, container, true, record.id);
      // Who looked in between has seen it running.
      standstill.set(true);
    } catch (error) {
      standstill.set(false);
      throw error;
    }
  }

  async resume(): Promise<void> {
    const { engine, container, standstill, record } = this.#box;
    await freeze(engine, container, false, record.id);
    standstill.set(false);
  }

  async snapshot(name?: string): Promise<SnapshotInfo> {
    return this.#use("snapshot", async () => {
      const { engine, record, container, first } = this.#box;
      const inspected = await engine.inspect(container);
      if (!inspected) throw this.#gone("snapshot");
      const plan = archivePlanOf(inspected);
      return takeSnapshot({ engine, session: this, record, inspected, plan, first, name });
    });
  }

  /** The agent of a paused one cannot be asked. */
  async info(): Promise<SandboxInfo> {
    const known = await infoOf(this.#box);
    if (known.state !== "paused") return this.#inner.info();
    return { ...known, ref: this.ref, shells: [], interpreters: [] };
  }

  destroy(): Promise<void> {
    return this.#inner.destroy();
  }

  async #use<Result>(
    operation: string,
    work: () => Promise<Result>,
    discard?: (late: Result) => Promise<void>,
  ): Promise<Result> {
    const { standstill, record } = this.#box;
    if (standstill.paused) throw pausedError(record.id, undefined, operation);
    return standstill.call(work(), (late) => {
      discard?.(late).catch(() => undefined);
    });
  }

  #guarded(files: ProviderFiles): ProviderFiles {
    const { symlink, watch } = files;
    return {
      read: (...args) =>
        this.#use(
          "files.read",
          () => files.read(...args),
          (late) => late.cancel(),
        ),
      write: (...args) => this.#use("files.write", () => files.write(...args)),
      list: (...args): Promise<FileInfo[]> => this.#use("files.list", () => files.list(...args)),
      stat: (...args) => this.#use("files.stat", () => files.stat(...args)),
      mkdir: (...args) => this.#use("files.mkdir", () => files.mkdir(...args)),
      move: (...args) => this.#use("files.move", () => files.move(...args)),
      remove: (...args) => this.#use("files.remove", () => files.remove(...args)),
      ...(symlink && { symlink: (...args) => this.#use("files.symlink", () => symlink.apply(files, args)) }),
      ...(watch && {
        watch: (...args) => {
          const { standstill, record } = this.#box;
          if (standstill.paused) throw pausedError(record.id, undefined, "files.watch");
          return watch.apply(files, args);
        },
      }),
    };
  }

  #gone(operation: string): SandboxError {
    const { id } = this.#box.record;
    const details = { provider: providerName, sandboxId: id, operation };
    return new SandboxError("SANDBOX_LOST", `the container of sandbox ${id} is gone: create a new sandbox`, details);
  }
}
