import { type CheckResult, messageOf, SandboxError } from "@sandkit/core";
import { patiently } from "./call.js";
import type { DaytonaConnector } from "./client.js";

/** Whether Daytona can be used from here. Never throws. */
export async function checkDaytona(connector: DaytonaConnector): Promise<CheckResult> {
  try {
    const client = connector.connect();
    await patiently({ operation: "check", subject: "sandboxes" }, () => client.list({ limit: 1 }).next());
    return { ok: true, detail: `Daytona at ${connector.place} answers and takes the key; isolation: container` };
  } catch (error) {
    const code = error instanceof SandboxError ? error.code : undefined;
    return { ok: false, detail: messageOf(error), fix: code === "AUTH" ? keyFixes : reachFixes };
  }
}

const keyFixes = [
  "make a key at https://app.daytona.io/dashboard/keys, and set DAYTONA_API_KEY to it",
  'for an installation of your own, set DAYTONA_API_URL or the option "apiUrl" too',
];
const reachFixes = [
  'check the address: DAYTONA_API_URL, or the option "apiUrl"',
  "look at https://status.daytona.io, and whether a proxy or firewall is in the way",
];
