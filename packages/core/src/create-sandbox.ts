import { requireFeature } from "./capabilities.js";
import { unlessAborted } from "./deadline.js";
import { SandboxError } from "./errors.js";
import type { CreateOptions } from "./options.js";
import type { AttachOptions, Provider, ProviderSession, SandboxRef } from "./provider.js";
import { requireWhatIsAsked } from "./require-options.js";
import { requireProvider } from "./require-provider.js";
import type { Sandbox } from "./sandbox.js";

const defaultCreateTimeoutMs = 5 * 60_000;

/** Loaded for the first sandbox: it takes longer than all else of an import of this package. */
const loadSandbox = () => import("./sandbox.js");
const loadOptions = () => import("./options.js");

/**
 * Makes a sandbox, or with `name` gets the living one of that name.
 * @throws SandboxError `INVALID` for wrong options; `UNSUPPORTED` for what the provider cannot honour, before anything
 * is created; `CONFLICT`, `QUOTA`, `UNAVAILABLE`, `AUTH`; `TIMEOUT` after `createTimeoutMs`; or `signal.reason`.
 * Nothing is left behind on failure.
 */
export async function createSandbox<Native = unknown>(
  provider: Provider<Native>,
  options: CreateOptions<Native> = {},
): Promise<Sandbox> {
  requireProvider(provider, "the first argument of createSandbox()");
  const [{ checkOptions }, { Sandbox }] = await Promise.all([loadOptions(), loadSandbox()]);
  checkOptions("create", options);
  requireWhatIsAsked(provider, options);
  provider.validate(options);
  const session = await createSession(provider, options);
  const sandbox = new Sandbox(session, options.approve);
  try {
    if (options.files && (await session.info()).origin === "created") await sandbox.files.writeAll(options.files);
  } catch (error) {
    await discard(session, options.name);
    throw error;
  }
  return sandbox;
}

/** How a sandbox is found again. */
export interface AttachSandboxOptions extends AttachOptions {
  /** Asked before each command and cell run through this object; default: nobody is asked. */
  readonly approve?: CreateOptions["approve"];
}

/**
 * Finds a living sandbox by its ref.
 * @throws SandboxError `NOT_FOUND` when it is gone; `INVALID` when the ref is another provider's; `UNSUPPORTED` without
 * `attach`, and for a sandbox that is its program's alone; or `signal.reason`
 */
export async function attachSandbox(
  provider: Provider,
  ref: SandboxRef,
  options: AttachSandboxOptions = {},
): Promise<Sandbox> {
  requireProvider(provider, "the first argument of attachSandbox()");
  const where = { provider: provider.name, sandboxId: ref.id, operation: "attach" };
  if (ref.provider !== provider.name) {
    const message = `sandbox ${ref.id} belongs to provider "${ref.provider}", not "${provider.name}": pass that provider`;
    throw new SandboxError("INVALID", message, where);
  }
  requireFeature(provider, "attach", "attachSandbox");
  const { Sandbox } = await loadSandbox();
  options.signal?.throwIfAborted();
  const session = await unlessAborted(provider.attach(ref, { signal: options.signal }), options.signal);
  if (session) return new Sandbox(session, options.approve);
  throw new SandboxError("NOT_FOUND", `sandbox ${ref.id} does not exist or has ended: create a new one`, where);
}

/** Bounds the creation; a new sandbox that comes too late is destroyed. */
async function createSession<Native>(
  provider: Provider<Native>,
  options: CreateOptions<Native>,
): Promise<ProviderSession> {
  options.signal?.throwIfAborted();
  const timeoutMs = options.createTimeoutMs ?? defaultCreateTimeoutMs;
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    const message = `provider "${provider.name}" did not create a sandbox within ${timeoutMs} ms (createTimeoutMs)`;
    timeout.abort(new SandboxError("TIMEOUT", message, { provider: provider.name, operation: "create" }));
  }, timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal;
  const creating = provider.create({ ...options, signal });
  try {
    return await unlessAborted(creating, signal);
  } catch (error) {
    // The caller has an answer already; what goes wrong from here on is found by `reap`.
    creating.then((late) => discard(late, options.name)).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a sandbox that nobody will get. One that was there before, found by its name, lives on. */
async function discard(session: ProviderSession, name: string | undefined): Promise<void> {
  if (name !== undefined && (await session.info()).origin === "attached") return;
  await session.destroy();
}
