import * as z from "zod/mini";
import { SandboxError } from "./errors.js";
import { describeIssues, english } from "./issues.js";

/**
 * Takes options of a provider for what its schema says they are.
 * @param about.what What they are, for people: `options of docker()`.
 * @throws SandboxError `INVALID`, naming each wrong or unknown option
 */
export function parseOptions<Output>(
  schema: z.core.$ZodType<Output>,
  options: unknown,
  about: { readonly provider: string; readonly operation: string; readonly what: string },
): Output {
  const { provider, operation, what } = about;
  const parsed = z.safeParse(schema, options, english);
  if (parsed.success) return parsed.data;
  throw new SandboxError("INVALID", `${what}: ${describeIssues(parsed.error)}`, { provider, operation });
}
