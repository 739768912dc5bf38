// Serves for the conformance suite until stdin ends; prints the address. The suite sends no token, so that it comes
// through a reverse proxy that adds one, as in front of a server of a company. May be given a config as JSON.
import { createServer, request } from "node:http";
import { configSchema, serveHttp } from "@sandkit/mcp-server";
import { createFixtureServer } from "./fixture-server.mjs";

const config = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
const server = await serveHttp({ config, createServer: createFixtureServer });
const { hostname, port } = new URL(server.url);

const proxy = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${server.token}` };
  const { method, url: path } = incoming;
  const forwarded = request({ hostname, port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  outgoing.on("close", () => forwarded.destroy());
  incoming.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (proxy.address());
  process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
});

process.stdin.resume().on("end", async () => {
  proxy.close();
  proxy.closeAllConnections();
  await server.close();
  process.exit(0);
});
