import { SandboxError } from "../errors.js";
import { wait } from "./try-again.js";

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
 * the oldest box is the one of the name. A younger one is to be discarded by its maker.
 * @param options.find The living boxes of the name, as the vendor lists them.
 * @returns whether `id` has the name
 * @throws SandboxError `UNAVAILABLE` when the vendor never lists the new box; or `signal.reason`
 */
export async function settleName(options: {
  readonly name: string;
  readonly id: string;
  find(): Promise<readonly NamedBox[]>;
  readonly signal?: AbortSignal | undefined;
}): Promise<boolean> {
  const { name, id, signal } = options;
  // A list without the new box is too old to tell of others.
  for (let look = 1; look <= looks; look += 1) {
    const found = [...(await options.find())].sort(byAge);
    if (found.some((box) => box.id === id)) return found[0]?.id === id;
    await wait(lookAgainMs, signal);
  }
  const message = `sandbox "${name}" (${id}) was made but is not in the vendor's list: try again`;
  throw new SandboxError("UNAVAILABLE", message, { operation: "create", sandboxId: id });
}

/** The oldest first; of one age, the same order for all who look. */
export function byAge(a: NamedBox, b: NamedBox): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
