import type { ProviderWork } from "@sandkit/core";
import { CloudSandboxes } from "@sandkit/core/kit";
import { checkE2B } from "./check.js";
import { E2BConnector } from "./client.js";
import { E2BCloud } from "./cloud.js";
import type { E2BNative, E2BOptions } from "./options.js";

/** What the provider does, loaded when it is first asked for. */
export function work(options: E2BOptions): ProviderWork<E2BNative> {
  const connector = new E2BConnector(options);
  const sandboxes = new CloudSandboxes((operation) => new E2BCloud(connector.connect(operation), options));
  return {
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    reap: (reap) => sandboxes.reap(reap),
    check: () => checkE2B(connector),
  };
}
