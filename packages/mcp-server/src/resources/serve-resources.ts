import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import type { Principal } from "../principal.js";
import { report } from "../report.js";
import type { Runtime } from "../runtime.js";
import { complete } from "./complete.js";
import { fileTemplate, logTemplate, parseUri } from "./links.js";
import { listResources } from "./list.js";
import { readResource } from "./read.js";

const maxSubscriptions = 200;

/** Registers files of sandboxes and logs of runs as resources: list, read, complete, subscribe. */
export function serveResources(server: Server, runtime: Runtime, principal: Principal): void {
  // Asked for each time: who has nothing left is forgotten meanwhile.
  const held = () => ({ sandboxes: runtime.sandboxesOf(principal), runs: runtime.runsOf(principal) });
  server.setRequestHandler("resources/list", async ({ params }) => listResources(params?.cursor, held()));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [fileTemplate, logTemplate] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) =>
    readResource(uri, { ...held(), maxBytes: runtime.config.maxInputBytes, signal }),
  );
  server.setRequestHandler("completion/complete", async ({ params }, { mcpReq: { signal } }) =>
    complete(params, { ...held(), signal }),
  );
  const wanted = new Set<string>();
  let listening = false;
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    parseUri(uri);
    if (wanted.size >= maxSubscriptions) {
      const message = `${maxSubscriptions} resources are subscribed to already: unsubscribe from some`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    wanted.add(uri);
    if (!listening) tellChanges(server, runtime, principal, (changed) => wanted.has(changed));
    listening = true;
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    wanted.delete(uri);
    return {};
  });
}

/** Tells a connected client of changes, until it goes. */
export function tellChanges(
  server: Server,
  runtime: Runtime,
  principal: Principal,
  isWanted: (uri: string) => boolean = () => true,
): void {
  const leave = runtime.changesOf(principal).subscribe((uri) => {
    if (!isWanted(uri)) return;
    server.sendResourceUpdated({ uri }).catch((error) => report("a change could not be told", error));
  });
  const { onclose } = server;
  server.onclose = () => {
    leave();
    onclose?.();
  };
}
