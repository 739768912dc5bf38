import { decodeRecord, type Machine } from "@sandkit/core/kit";
import type { Sandbox } from "e2b";
import type { VendorInfo } from "./client.js";

/** A sandbox at E2B. */
export interface E2BMachine extends Machine {
  /** The SDK's own, of one that was just made or connected to. */
  readonly sandbox?: Sandbox | undefined;
}

/** What E2B tells of one. */
export function machineOf({ sandboxId, state, metadata, startedAt, endAt }: VendorInfo): E2BMachine {
  return {
    id: sandboxId,
    state,
    record: decodeRecord(metadata),
    createdAt: startedAt,
    // A paused one has no end.
    expiresAt: state === "running" ? endAt : undefined,
  };
}
