import { SandboxError } from "./errors.js";
import type { Provider } from "./provider.js";

/** What a provider must write; the rest has defaults that say no. */
export type ProviderDefinition<Native = unknown> = Pick<Provider<Native>, "name" | "capabilities" | "create"> &
  Partial<Provider<Native>>;

/**
 * Makes a provider from its parts. Absent members: `validate` accepts, `attach` and `list` are `UNSUPPORTED`, `reap`
 * finds nothing, `check` is content.
 * @throws SandboxError `INVALID` when `attach` or `list` is declared but missing
 */
export function defineProvider<Native = unknown>(definition: ProviderDefinition<Native>): Provider<Native> {
  const { name, capabilities } = definition;
  for (const member of ["attach", "list"] as const) {
    if (capabilities.features[member] && !definition[member]) {
      throw new SandboxError("INVALID", `provider "${name}" declares "${member}" but has no ${member}()`, {
        provider: name,
        operation: "defineProvider",
      });
    }
  }
  const unsupported = (operation: string) =>
    new SandboxError("UNSUPPORTED", `provider "${name}" cannot ${operation} sandboxes`, { provider: name, operation });
  return {
    validate: () => undefined,
    attach: async () => {
      throw unsupported("attach");
    },
    // biome-ignore lint/correctness/useYield: a list that fails at its first step
    list: async function* () {
      throw unsupported("list");
    },
    reap: async () => [],
    check: async () => ({ ok: true, detail: `${name} needs nothing on this machine` }),
    ...definition,
  };
}
