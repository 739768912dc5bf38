import { SandboxError } from "../errors.js";

/** As PEP 508 writes it: a name, extras, versions, a condition; no address, and nothing that begins with a dash. */
const requirement = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\s*(?:\[[a-z0-9._, \t-]*\])?\s*(?:[(<>=!~][^;@]*)?(?:;.*)?$/i;

/**
 * What the pip of a box is asked for, trimmed.
 * @throws SandboxError `INVALID`, naming the one that is none
 */
export function checkRequirements(provider: string, packages: readonly string[] = []): readonly string[] {
  for (const text of packages) {
    if (requirement.test(text.trim()) && !/[\r\n\0]/.test(text)) continue;
    const message = `option "packages": ${JSON.stringify(text)} is no package: write it like requests[socks]>=2,<3`;
    throw new SandboxError("INVALID", message, { provider, operation: "create" });
  }
  return packages.map((text) => text.trim());
}
