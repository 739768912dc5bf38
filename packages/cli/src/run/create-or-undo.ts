import { setTimeout as pause } from "node:timers/promises";
import { type CreateOptions, createSandbox, defineProvider, type Provider, type Sandbox } from "@sandkit/core";

/** How long what was begun may take to be undone. An engine that does not answer must not hold up the end of this process. */
const undoneWithinMs = 5_000;

/**
 * As `createSandbox`; given up, it settles only when what was begun is undone: this process is about to end, and could
 * not do it later.
 */
export async function createOrUndo(provider: Provider, options: CreateOptions): Promise<Sandbox> {
  let begun: ReturnType<Provider["create"]> | undefined;
  const watched = defineProvider({
    name: provider.name,
    capabilities: provider.capabilities,
    validate: (create) => provider.validate(create),
    create: (create) => {
      begun = provider.create(create);
      return begun;
    },
    attach: (ref, attach) => provider.attach(ref, attach),
    list: (list) => provider.list(list),
  });
  try {
    return await createSandbox(watched, options);
  } catch (error) {
    // Why it failed is told already; what is left all the same is found by the next sweep.
    const undone = begun?.then((late) => late.destroy()).catch(() => undefined);
    await Promise.race([undone, pause(undoneWithinMs, undefined, { ref: false })]);
    throw error;
  }
}
