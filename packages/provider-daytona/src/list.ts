import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { patiently } from "./call.js";
import { wantedLabels } from "./labels.js";

const pageSize = 100;

/** All sandboxes of Sandkit at Daytona that carry these labels, page by page. An outage throws. */
export async function* listSandboxes(
  client: Daytona,
  operation: string,
  labels?: Readonly<Record<string, string>> | undefined,
): AsyncGenerator<Sandbox> {
  const seen = new Set<string>();
  const query = { labels: wantedLabels(labels), limit: pageSize };
  let pages = client.list(query);
  for (;;) {
    const { done, value } = await patiently({ operation, subject: "sandboxes" }, async () => {
      try {
        return await pages.next();
      } catch (error) {
        // After a failure the SDK's list is at its end: from the beginning, without what was told already.
        pages = client.list(query);
        throw error;
      }
    });
    if (done) return;
    if (seen.has(value.id)) continue;
    seen.add(value.id);
    yield value;
  }
}
