import { createHash } from "node:crypto";
import { type Capabilities, capabilities, requireFeature } from "../../capabilities.js";
import { deferred } from "../../deferred.js";
import { SandboxError } from "../../errors.js";
import { Once } from "../../once.js";
import { PlainBox } from "../../plain/plain-box.js";
import type {
  KernelOptions,
  ProviderFiles,
  ProviderKernel,
  ProviderProcess,
  SandboxRef,
  SpawnOptions,
} from "../../provider.js";
import type { StageFile } from "../../staged-file.js";
import type { RemoteBox } from "../remote-box.js";
import type { GuestLook, RemoteGuest } from "../remote-guest.js";
import { PlainLifetime } from "./plain-lifetime.js";
import { shellPlace } from "./shell-place.js";
import { ShellTerminals } from "./shell-terminals.js";

/** Where a terminal may start that is no place to work. */
const nobodysPlace: ReadonlySet<string> = new Set(["/", "/root"]);
/** No box without Python is set up for longer: nothing is installed in it. */
const setUpMs = 5 * 60_000;

/** How a plain guest is opened. */
export interface PlainGuestOptions {
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** Who joins is told that the box is still being set up, until `ready`. */
  readonly settingUp?: boolean | undefined;
  /** The box is another client's. */
  readonly joins?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What stands in the place of a link and its agent, in a box that has nothing to run one. */
interface OpenedPlain {
  readonly guest: RemoteGuest;
  readonly terminals: ShellTerminals;
}

/**
 * Opens a box by a shell on terminals of it.
 * @throws SandboxError `UNSUPPORTED` when the box lacks the tools for it, `UNAVAILABLE`; or `signal.reason`
 */
export async function openPlainGuest(
  box: RemoteBox,
  { ttlMs, idleMs, settingUp = false, joins = false, signal }: PlainGuestOptions,
  isPaused: () => Promise<boolean>,
): Promise<OpenedPlain> {
  const owner = { provider: box.ref.provider, sandboxId: box.ref.id };
  const terminals = new ShellTerminals(() => box.terminal(box.user), owner, isPaused);
  try {
    const shell = await terminals.take({ signal });
    const { path, home, cwd } = shell.place;
    terminals.giveBack(shell, true);
    const workdir = box.workdir ?? (nobodysPlace.has(cwd) ? home : cwd);
    const place = shellPlace(box, terminals);
    const isReady = readyMark(box.ref);
    const directories = [workdir, ...(box.directories ?? []), ...(settingUp || joins ? [] : [isReady])];
    const plain = await PlainBox.open(place, {
      capabilities: withoutPackages(box.capabilities),
      workdir,
      env: { PATH: path, ...box.env },
      directories,
      signal,
    });
    const isBeingSetUp = joins && !(await isThere(plain, isReady)) && (await isYoung(box));
    return { guest: new PlainGuest(box, plain, { workdir, terminals, ttlMs, idleMs, isBeingSetUp }), terminals };
  } catch (error) {
    const reason = error instanceof SandboxError ? error : unavailable(owner, error);
    await terminals.close(reason);
    throw error;
  }
}

/**
 * A directory that is there once the box is set up. Whoever runs in the box may make it, and have others join a box that
 * may fail yet, or remove it: then they are told to wait for as long as a set-up may take, and no longer.
 */
function readyMark({ id }: SandboxRef): string {
  return `/tmp/.sandkit-ready-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

async function isYoung(box: RemoteBox): Promise<boolean> {
  return Date.now() - (await box.info()).createdAt.getTime() < setUpMs;
}

async function isThere({ files }: PlainBox, path: string): Promise<boolean> {
  try {
    await files.stat(path, { followSymlinks: false });
    return true;
  } catch (error) {
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return false;
    throw error;
  }
}

/** Packages are installed by Python, which there is none of. */
function withoutPackages(upper: Capabilities): Capabilities {
  return capabilities({ ...upper, features: { ...upper.features, packages: false } });
}

/** A box without an agent, as a session over a remote box uses one. */
class PlainGuest implements RemoteGuest {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: ProviderFiles;
  readonly stage: StageFile;
  readonly isBeingSetUp: boolean;
  readonly closed: Promise<void>;
  readonly #box: RemoteBox;
  readonly #plain: PlainBox;
  readonly #terminals: ShellTerminals;
  readonly #lifetime: PlainLifetime;
  readonly #closed = deferred<void>();
  #failure: SandboxError | undefined;
  readonly #destruction = new Once<void>();

  constructor(
    box: RemoteBox,
    plain: PlainBox,
    options: {
      readonly workdir: string;
      readonly terminals: ShellTerminals;
      readonly ttlMs: number | undefined;
      readonly idleMs: number | undefined;
      readonly isBeingSetUp: boolean;
    },
  ) {
    this.ref = box.ref;
    this.workdir = options.workdir;
    this.capabilities = plain.capabilities;
    this.isBeingSetUp = options.isBeingSetUp;
    this.closed = this.#closed.promise;
    this.#box = box;
    this.#plain = plain;
    this.#terminals = options.terminals;
    this.#lifetime = new PlainLifetime(options, (why) => this.#expire(why));
    this.files = this.#busyFiles(plain.files);
    this.stage = (...args) => this.#whileBusy(() => plain.stage(...args));
  }

  get failure(): SandboxError | undefined {
    return this.#failure;
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    this.#requireOpen();
    const process = await this.#lifetime.whileBusy(this.#plain.spawn(command, options));
    // Its failure is for those who wait for it.
    this.#lifetime.whileBusy(process.exited).catch(() => undefined);
    return process;
  }

  async kernel({ language }: KernelOptions): Promise<ProviderKernel> {
    const feature = language === "typescript" ? "kernel.javascript" : (`kernel.${language}` as const);
    requireFeature({ name: this.ref.provider, capabilities: this.capabilities }, feature, `a ${language} kernel`);
    throw new Error(`a plain box declares ${feature}`);
  }

  async extend(ttlMs: number): Promise<void> {
    this.#requireOpen();
    this.#lifetime.extend(ttlMs);
  }

  touch(): void {
    this.#lifetime.touch();
  }

  async look(): Promise<GuestLook | undefined> {
    if (this.#failure) return undefined;
    const { shells, interpreters } = this.#plain;
    return { shells, interpreters, expiresAt: this.#lifetime.expiresAt };
  }

  async ready(): Promise<void> {
    await this.files.mkdir(readyMark(this.ref));
  }

  async leave(reason = this.#error("NOT_FOUND", `sandbox ${this.ref.id} was left by this client`)): Promise<void> {
    await this.#close(reason);
  }

  destroy(): Promise<void> {
    return this.#destruction.run(() => this.#destroy());
  }

  async #destroy(): Promise<void> {
    const message = `sandbox ${this.ref.id} was destroyed: create a new one`;
    const ending = this.#close(this.#error("NOT_FOUND", message));
    await this.#box.destroy();
    await ending;
  }

  #expire(why: string): void {
    this.#close(this.#error("EXPIRED", `sandbox ${this.ref.id} has ended: ${why}`)).catch(() => undefined);
  }

  async #close(reason: SandboxError): Promise<void> {
    this.#failure ??= reason;
    this.#lifetime.stop();
    this.#plain.abandon(this.#failure);
    await this.#terminals.close(this.#failure);
    this.#closed.resolve();
  }

  #requireOpen(): void {
    if (this.#failure) throw this.#failure;
  }

  /** An operation on a file is a use of the box. */
  #busyFiles(files: ProviderFiles): ProviderFiles {
    const busy = <Result>(work: () => Promise<Result>) => this.#whileBusy(work);
    return {
      read: (...args) => busy(() => files.read(...args)),
      write: (...args) => busy(() => files.write(...args)),
      list: (...args) => busy(() => files.list(...args)),
      stat: (...args) => busy(() => files.stat(...args)),
      mkdir: (...args) => busy(() => files.mkdir(...args)),
      move: (...args) => busy(() => files.move(...args)),
      remove: (...args) => busy(() => files.remove(...args)),
      symlink: (...args) => busy(async () => files.symlink?.(...args)),
    };
  }

  #whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#failure) return Promise.reject(this.#failure);
    return this.#lifetime.whileBusy(work());
  }

  #error(code: "NOT_FOUND" | "EXPIRED", message: string): SandboxError {
    return new SandboxError(code, message, { provider: this.ref.provider, sandboxId: this.ref.id });
  }
}

function unavailable(owner: { readonly provider: string; readonly sandboxId: string }, cause: unknown): SandboxError {
  return new SandboxError("UNAVAILABLE", `sandbox ${owner.sandboxId} was not opened`, { ...owner, cause });
}
