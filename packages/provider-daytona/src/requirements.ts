import { refusal } from "./errors.js";

/** As PEP 508 writes it: a name, extras, versions, a condition. It never begins with a dash. */
const requirement = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\s*(?:\[[a-z0-9._,\s-]*\])?\s*(?:[(<>=!~][^;@]*)?(?:;.*)?$/is;

/**
 * What pip is asked for.
 * @throws SandboxError `INVALID`, naming the one that is none
 */
export function checkedRequirements(packages: readonly string[] = []): readonly string[] {
  for (const text of packages) {
    if (requirement.test(text.trim()) && !/[\r\n\0]/.test(text)) continue;
    throw refusal("INVALID", `option "packages": ${JSON.stringify(text)} is no package: write it like requests>=2,<3`);
  }
  return packages.map((text) => text.trim());
}
