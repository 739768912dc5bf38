import type { CreateOptions } from "../options.js";
import type { ProviderSession } from "../provider.js";
import { begin, finish } from "./being-made.js";
import { boxOf } from "./box-of.js";
import type { Cloud, CloudPlan, Fleet } from "./cloud.js";
import { installPackages } from "./install-packages.js";
import type { Machine } from "./machine.js";
import { recordFor, type SandboxRecord } from "./record.js";
import { type RemoteSession, remoteSession } from "./remote-session.js";
import { settleName } from "./settle-name.js";
import { undone } from "./undo.js";

/**
 * Makes a sandbox: a machine, its name, its agent, packages, the network of its life. On failure and on abort nothing
 * of it is left.
 * @returns undefined when somebody else has the name
 */
export async function makeSandbox<Native, Plan extends CloudPlan, Found extends Machine>(
  cloud: Cloud<Native, Plan, Found>,
  create: CreateOptions<Native>,
  plan: Plan,
): Promise<ProviderSession | undefined> {
  const { signal, onProgress } = create;
  signal?.throwIfAborted();
  const record = await recordFor(create, plan.template);
  begin(record);
  try {
    onProgress?.(`starting a sandbox at ${cloud.vendor} from ${plan.startsFrom}`);
    const found = await cloud.make({ create, plan, record, signal });
    return found && (await setUp(cloud, create, plan, found, record));
  } finally {
    finish(record);
  }
}

async function setUp<Native, Plan extends CloudPlan, Found extends Machine>(
  cloud: Cloud<Native, Plan, Found>,
  create: CreateOptions<Native>,
  plan: Plan,
  found: Found,
  record: SandboxRecord,
): Promise<ProviderSession | undefined> {
  const { signal, onProgress, env, name } = create;
  let session: RemoteSession | undefined;
  try {
    signal?.throwIfAborted();
    if (name !== undefined && !(await hasName(cloud, found, record, name, signal))) {
      await cloud.remove(found, "create");
      return undefined;
    }
    const { ttlMs, idleMs, detached } = record;
    // Who could find it meanwhile waits for it.
    const settingUp = name !== undefined || plan.packages.length > 0;
    const words = { origin: "created", leaseMs: cloud.leaseMs, ttlMs, idleMs, detached, settingUp, signal } as const;
    session = await remoteSession(boxOf({ fleet: cloud, found, record, origin: "created", env }), words);
    if (plan.packages.length > 0) await installPackages(session, plan.packages, { signal, onProgress });
    if (plan.narrowsNetwork) await cloud.narrowNetwork(found, plan, signal);
    if (settingUp) await session.ready();
    return session;
  } catch (error) {
    // A session that is destroyed renews nothing any more, even when its machine could not be removed.
    throw await undone(error, () => session?.destroy() ?? cloud.remove(found, "create"), signal);
  }
}

async function hasName<Found extends Machine>(
  fleet: Fleet<Found>,
  { id }: Found,
  { owner }: SandboxRecord,
  name: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (fleet.namesAreUnique) return true;
  return settleName({ name, id, find: () => fleet.named(name, owner, signal), signal });
}
