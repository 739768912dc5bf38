import { decodeRecord, type NamedBox, nameValues, SandboxError, type SandboxRecord } from "@sandkit/core";
import type { E2BClient, VendorInfo } from "./client.js";
import { providerName } from "./errors.js";

/** A sandbox that was found by its name, with its record. */
export interface NamedSandbox extends NamedBox {
  readonly info: VendorInfo;
  readonly record: SandboxRecord;
}

/**
 * The living sandboxes of a name: detached ones of anybody with this account, others only of this program. A copy has
 * the name of its original in its metadata too, and is younger.
 */
export async function findNamed(client: E2BClient, name: string, owner: string): Promise<NamedSandbox[]> {
  const found: NamedSandbox[] = [];
  for await (const info of client.list(nameValues(name), "create")) {
    const record = decodeRecord(info.metadata);
    if (!record || !(record.detached || record.owner === owner)) continue;
    found.push({ id: info.sandboxId, createdAt: info.startedAt, info, record });
  }
  return found.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
}

/** @throws SandboxError `CONFLICT` when the one of that name was made with other options */
export function requireSameOptions({ record, id }: NamedSandbox, options: string): void {
  if (record.options === options) return;
  throw new SandboxError(
    "CONFLICT",
    `sandbox "${record.name}" lives with other options: destroy it, or create with the same options or another name`,
    { provider: providerName, operation: "create", sandboxId: id },
  );
}
