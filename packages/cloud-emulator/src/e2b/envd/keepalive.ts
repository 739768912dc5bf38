import type { E2BQuirks } from "../quirks.js";
import type { ConnectCall } from "./connect-protocol.js";

const defaultMs = 90_000;

/** How long a stream may be idle before it says that it lives, in milliseconds; the client asks in seconds. */
export function keepaliveMs(call: ConnectCall, quirks: E2BQuirks): number {
  const asked = Number(call.header("keepalive-ping-interval")) * 1000;
  return quirks.keepaliveMs ?? (asked > 0 ? asked : defaultMs);
}
