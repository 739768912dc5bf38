import { SandboxError } from "./errors.js";
import type { Lifetime } from "./options.js";
import type { ProviderFiles, ProviderKernel, ProviderProcess, ProviderSession, SandboxInfo } from "./provider.js";

/** When an expired sandbox that could not be destroyed is tried again. */
const retryMs = 10_000;

/** The life of one sandbox, shared by every handle on it. */
export interface Tenancy {
  readonly provider: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly lifetime: Lifetime;
  /** Commands, cells and transfers that run now. */
  busy: number;
  /** It stands still, which is no lack of use. */
  paused?: boolean;
  expiresAt?: Date;
  idleAt?: Date;
  timer?: NodeJS.Timeout;
  ended?: "expired" | "destroyed";
  destroying?: Promise<void>;
}

/** A session with an end: every call counts as use, and none succeeds after it. */
export interface GuardedSession extends ProviderSession {
  /** Begins the life: from now `ttlMs` and `idleMs` count. */
  startClock(): void;
  extend(ttlMs: number): Promise<void>;
}

/** Wraps a session so that it ends by its lifetime and says so afterwards. */
export function guardSession(
  session: ProviderSession,
  tenancy: Tenancy,
  facts: Pick<SandboxInfo, "origin" | "name" | "labels">,
  onEnd: () => void,
): GuardedSession {
  const end = (reason: "expired" | "destroyed") => {
    tenancy.ended ??= reason;
    clearTimeout(tenancy.timer);
    // One that could not be destroyed may still exist: it stays known, and destroying it can be tried again.
    tenancy.destroying ??= session.destroy().then(onEnd, (error) => {
      tenancy.destroying = undefined;
      throw error;
    });
    return tenancy.destroying;
  };

  const expire = () => {
    end("expired").catch(() => {
      tenancy.timer = setTimeout(expire, retryMs);
      tenancy.timer.unref();
    });
  };

  const schedule = () => {
    clearTimeout(tenancy.timer);
    if (tenancy.ended) return;
    const idleAt = tenancy.busy > 0 || tenancy.paused ? undefined : tenancy.idleAt;
    const next = Math.min(tenancy.expiresAt?.getTime() ?? Infinity, idleAt?.getTime() ?? Infinity);
    if (next === Infinity) return;
    // A timer in Node counts at most 2^31 - 1 ms; a longer life is looked at again then.
    const delay = Math.min(Math.max(0, next - Date.now()), 2 ** 31 - 1);
    tenancy.timer = setTimeout(() => {
      if (Date.now() < next) schedule();
      else expire();
    }, delay);
    tenancy.timer.unref();
  };

  const touch = () => {
    const { idleMs } = tenancy.lifetime;
    if (idleMs !== undefined) tenancy.idleAt = new Date(Date.now() + idleMs);
    schedule();
  };

  const use = (operation: string) => {
    if (tenancy.ended) throw endedError(tenancy, operation);
    touch();
  };

  const occupy = (until: Promise<unknown>) => {
    tenancy.busy += 1;
    schedule();
    const free = () => {
      tenancy.busy -= 1;
      touch();
    };
    until.then(free, free);
  };

  const startKernel = session.kernel?.bind(session);
  const guard = guardWith(use, occupy);
  return {
    ref: session.ref,
    workdir: session.workdir,
    capabilities: session.capabilities,
    native: session.native,
    files: guardFiles(session.files, guard, use, touch),
    ...guardOptional(session, guard),
    ...guardPause(session, guard, (paused) => {
      tenancy.paused = paused;
      touch();
    }),
    startClock() {
      const { ttlMs } = tenancy.lifetime;
      if (ttlMs !== undefined) tenancy.expiresAt = new Date(Date.now() + ttlMs);
      touch();
      session.onUse?.(touch);
    },
    async spawn(command, options) {
      use("spawn");
      const starting: Promise<ProviderProcess> = session.spawn(command, options);
      occupy(starting.then(({ exited }) => exited));
      return starting;
    },
    ...(startKernel && {
      async kernel(options) {
        use("kernel");
        const starting = startKernel(options);
        occupy(starting);
        return guardKernel(await starting, use, occupy);
      },
    }),
    async extend(ttlMs) {
      use("extend");
      tenancy.expiresAt = new Date(Date.now() + ttlMs);
      schedule();
    },
    async info() {
      const info = await session.info();
      const expiresAt = tenancy.expiresAt;
      return { ...info, ...facts, createdAt: tenancy.createdAt, expiresAt, ...(tenancy.ended && { state: "gone" }) };
    },
    async destroy() {
      await end("destroyed");
    },
  };
}

type Guard = <Args extends unknown[], Result>(
  operation: string,
  call: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

/** Makes each call count as use for as long as it takes, and fail after the end. */
function guardWith(use: (operation: string) => void, occupy: (until: Promise<unknown>) => void): Guard {
  return (operation, call) =>
    async (...args) => {
      use(operation);
      const work = call(...args);
      occupy(work);
      return work;
    };
}

function guardFiles(
  files: ProviderFiles,
  guard: Guard,
  use: (operation: string) => void,
  touch: () => void,
): ProviderFiles {
  const watch = files.watch?.bind(files);
  return {
    read: guard("files.read", async (...args) => tapped(await files.read(...args), touch)),
    write: guard("files.write", files.write.bind(files)),
    list: guard("files.list", files.list.bind(files)),
    stat: guard("files.stat", files.stat.bind(files)),
    mkdir: guard("files.mkdir", files.mkdir.bind(files)),
    move: guard("files.move", files.move.bind(files)),
    remove: guard("files.remove", files.remove.bind(files)),
    ...(files.symlink && { symlink: guard("files.symlink", files.symlink.bind(files)) }),
    ...(watch && {
      watch(path, options) {
        use("files.watch");
        return watch(path, options);
      },
    }),
  };
}

/** The same stream, with a call for each piece that is read: reading is use. */
function tapped(stream: ReadableStream<Uint8Array>, onPiece: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        onPiece();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The members that not every provider has and that need nothing but the guard. */
function guardOptional(session: ProviderSession, guard: Guard): Partial<ProviderSession> {
  return {
    ...(session.process && { process: guard("process", session.process.bind(session)) }),
    ...(session.onContact && { onContact: session.onContact.bind(session) }),
    ...(session.onUse && { onUse: session.onUse.bind(session) }),
    ...(session.port && { port: guard("port", session.port.bind(session)) }),
    ...(session.snapshot && { snapshot: guard("snapshot", session.snapshot.bind(session)) }),
    ...(session.fork && { fork: guard("fork", session.fork.bind(session)) }),
  };
}

function guardPause(
  session: ProviderSession,
  guard: Guard,
  stands: (still: boolean) => void,
): Pick<ProviderSession, "pause" | "resume"> {
  const { pause, resume } = session;
  const then = (change: () => Promise<void>, still: boolean) => async () => {
    await change.call(session);
    stands(still);
  };
  return {
    ...(pause && { pause: guard("pause", then(pause, true)) }),
    ...(resume && { resume: guard("resume", then(resume, false)) }),
  };
}

function guardKernel(
  kernel: ProviderKernel,
  use: (operation: string) => void,
  occupy: (until: Promise<unknown>) => void,
): ProviderKernel {
  return {
    id: kernel.id,
    async execute(code, options) {
      use("kernel.execute");
      const cell = kernel.execute(code, options);
      occupy(cell);
      return cell;
    },
    interrupt: () => kernel.interrupt(),
    kill: () => kernel.kill(),
  };
}

function endedError(tenancy: Tenancy, operation: string): SandboxError {
  const { provider, id: sandboxId } = tenancy;
  return tenancy.ended === "expired"
    ? new SandboxError("EXPIRED", `sandbox ${sandboxId} has reached the end of its lifetime: create a new one`, {
        provider,
        sandboxId,
        operation,
      })
    : new SandboxError("NOT_FOUND", `sandbox ${sandboxId} was destroyed: create a new one`, {
        provider,
        sandboxId,
        operation,
      });
}
