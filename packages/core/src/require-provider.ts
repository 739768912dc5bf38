import { SandboxError } from "./errors.js";

/**
 * Refuses what is given in the place of a provider, such as `docker` for `docker()`.
 * @param what Who was given it, for the message.
 * @throws SandboxError `INVALID`
 */
export function requireProvider(given: unknown, what: string): void {
  if (typeof given === "object" && given !== null && "capabilities" in given && "create" in given) return;
  const next =
    typeof given === "function"
      ? `a function was given: call it, such as ${given.name || "docker"}()`
      : "give what such a function returns: docker(), wasm()";
  throw new SandboxError("INVALID", `${what} is no provider: ${next}`);
}
