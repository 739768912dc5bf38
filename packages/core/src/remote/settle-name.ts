import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "../errors.js";

/** A box that was found by its name. */
export interface NamedBox {
  readonly id: string;
  /** By the vendor's clock, not by that of the program that made it. */
  readonly createdAt: Date;
}

const looks = 10;
const lookAgainMs = 200;

/**
 * Decides between programs that made boxes of one name at the same time, where the vendor does not: all look again, and
 * the oldest box is the one of the name. A younger one is discarded by its maker.
 * @param options.find The living boxes of the name, as the vendor lists them.
 * @returns `mine`, or the one that was there before
 * @throws SandboxError `UNAVAILABLE` when the vendor never lists the new box, which is discarded then
 */
export async function settleName<Box extends NamedBox>(options: {
  readonly name: string;
  readonly mine: Box;
  find(): Promise<readonly Box[]>;
  discard(box: Box): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}): Promise<Box> {
  const { name, mine, signal } = options;
  try {
    // A list without the new box is too old to tell of others.
    for (let look = 1; look <= looks; look += 1) {
      const [oldest, ...others] = [...(await options.find())].sort(byAge);
      if (oldest?.id === mine.id) return mine;
      if (oldest && others.some(({ id }) => id === mine.id)) {
        await options.discard(mine);
        return oldest;
      }
      await pause(lookAgainMs, undefined, { signal });
    }
  } catch (error) {
    await options.discard(mine);
    throw signal?.aborted ? signal.reason : error;
  }
  await options.discard(mine);
  const message = `sandbox "${name}" (${mine.id}) was made but is not in the vendor's list: try again`;
  throw new SandboxError("UNAVAILABLE", message, { operation: "create", sandboxId: mine.id });
}

function byAge(a: NamedBox, b: NamedBox): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
