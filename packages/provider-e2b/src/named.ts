import { SandboxError } from "@sandkit/core";
import type { E2BClient, VendorInfo } from "./client.js";
import { providerName } from "./errors.js";
import { nameKey, recordOf, type SandboxRecord } from "./metadata.js";

/** A sandbox that was found, with its record. */
export interface FoundSandbox {
  readonly info: VendorInfo;
  readonly record: SandboxRecord;
}

/**
 * The living sandbox of a name, which others may have made too: a detached one of anybody with this account, another
 * one only of this program. Of several that were made at one time it is for all the same one, the first.
 */
export async function findNamed(client: E2BClient, name: string, owner: string): Promise<FoundSandbox | undefined> {
  const found: FoundSandbox[] = [];
  for await (const info of client.list({ [nameKey]: name }, "create")) {
    const record = recordOf(info.metadata);
    if (record && (record.detached || record.owner === owner)) found.push({ info, record });
  }
  return found.sort(byAge)[0];
}

/** A copy has the name of its original in its metadata too, and is younger. */
function byAge(one: FoundSandbox, other: FoundSandbox): number {
  const age = one.info.startedAt.getTime() - other.info.startedAt.getTime();
  return age === 0 ? (one.info.sandboxId < other.info.sandboxId ? -1 : 1) : age;
}

/** @throws SandboxError `CONFLICT` when the one of that name was made with other options */
export function requireSameOptions({ record, info }: FoundSandbox, options: string): void {
  if (record.options === options) return;
  throw new SandboxError(
    "CONFLICT",
    `sandbox "${record.name}" lives with other options: destroy it, or create with the same options or another name`,
    { provider: providerName, operation: "create", sandboxId: info.sandboxId },
  );
}
