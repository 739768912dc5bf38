import type { ProviderSession } from "../provider.js";
import type { Fleet, Origin } from "./cloud.js";
import { infoOf, type Machine } from "./machine.js";
import { recordOfCopy, type SandboxRecord } from "./record.js";
import type { RemoteBox } from "./remote-box.js";
import { remoteSession } from "./remote-session.js";
import { undone } from "./undo.js";

/** A machine that is to be a box. */
export interface BoxOrder<Found extends Machine> {
  readonly fleet: Fleet<Found>;
  readonly found: Found;
  readonly record: SandboxRecord;
  readonly origin: Origin;
  /** Of its creator alone. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The box of a machine that runs, as its cloud makes it, with what is the same for all clouds. */
export function boxOf<Found extends Machine>(order: BoxOrder<Found>): RemoteBox {
  const { fleet, found, record, origin, env } = order;
  const { id } = found;
  return fleet.box(found, {
    ref: { provider: fleet.provider, id },
    record,
    workdir: record.workdir,
    env,
    info: async () => infoOf(record, await fleet.find(id, "info"), origin),
    openCopies: (copies) => openCopies(order, copies),
  });
}

/** A copy is a sandbox of its own, which lives as long from now on as its original was made to. */
async function openCopies<Found extends Machine>(
  { fleet, record, env }: BoxOrder<Found>,
  copies: readonly Found[],
): Promise<ProviderSession[]> {
  const opening = copies.map((found) => {
    const own = found.record ?? recordOfCopy(record);
    const { ttlMs, idleMs, detached } = own;
    const words = { origin: "created", leaseMs: fleet.leaseMs, ttlMs, idleMs, detached } as const;
    return remoteSession(boxOf({ fleet, found, record: own, origin: "created", env }), words);
  });
  const results = await Promise.allSettled(opening);
  const failed = results.find((result) => result.status === "rejected");
  const sessions = results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
  if (!failed) return sessions;
  throw await undone(failed.reason, async () => {
    const ends = [...sessions.map((session) => session.destroy()), ...copies.map((copy) => fleet.remove(copy, "fork"))];
    const left = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
    if (left) throw left.reason;
  });
}
