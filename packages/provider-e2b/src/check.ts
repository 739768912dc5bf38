import { type CheckResult, messageOf, SandboxError } from "@sandkit/core";
import type { E2BConnector } from "./client.js";
import { managed } from "./marks.js";

const dashboard = "make a key at https://e2b.dev/dashboard and set E2B_API_KEY, or the option apiKey";

/** Whether E2B can be used from here with this key. Never throws. */
export async function checkE2B(connector: E2BConnector): Promise<CheckResult> {
  try {
    let living = 0;
    for await (const _ of connector.connect("check").list(managed, "check")) living += 1;
    const ours = living === 1 ? "1 sandbox of Sandkit lives" : `${living} sandboxes of Sandkit live`;
    return { ok: true, detail: `the key is good at E2B; ${ours} there; isolation: microvm` };
  } catch (error) {
    const isKey = error instanceof SandboxError && error.code === "AUTH";
    const network = "check that this machine reaches E2B, and the options domain and apiUrl";
    return { ok: false, detail: messageOf(error), fix: isKey ? [dashboard] : [network, dashboard] };
  }
}
