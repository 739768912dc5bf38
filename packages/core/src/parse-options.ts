import type * as z from "zod";
import { SandboxError } from "./errors.js";
import { describeIssues } from "./options.js";

/**
 * Takes options of a provider for what its schema says they are.
 * @param about.what What they are, for people: `options of docker()`.
 * @throws SandboxError `INVALID`, naming each wrong or unknown option
 */
export function parseOptions<Output>(
  schema: z.ZodType<Output>,
  options: unknown,
  about: { readonly provider: string; readonly operation: string; readonly what: string },
): Output {
  const { provider, operation, what } = about;
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new SandboxError("INVALID", `${what}: ${describeIssues(parsed.error)}`, { provider, operation });
}
