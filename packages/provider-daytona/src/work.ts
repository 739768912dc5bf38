import type { ProviderWork } from "@sandkit/core";
import { CloudSandboxes } from "@sandkit/core/kit";
import { checkDaytona } from "./check.js";
import { DaytonaConnector } from "./client.js";
import { DaytonaCloud } from "./cloud.js";
import type { DaytonaNative, DaytonaOptions } from "./options.js";

/** What the provider does, loaded when it is first asked for. */
export function work(options: DaytonaOptions): ProviderWork<DaytonaNative> {
  const connector = new DaytonaConnector(options);
  const sandboxes = new CloudSandboxes(() => new DaytonaCloud(connector, options));
  return {
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    reap: (reap) => sandboxes.reap(reap),
    check: () => checkDaytona(connector),
    close: () => connector.close(),
  };
}
