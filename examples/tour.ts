/** The tour: a real MCP client drives the server over stdio, and every result is checked. */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { claudeDesktopConfig } from "./tour/client-config.js";
import { showCall, showResult, showTitle } from "./tour/show.js";
import { type TourCall, tourSteps } from "./tour/steps.js";

const cli = fileURLToPath(import.meta.resolve("sandkit/bin/sandkit.js"));
const server = { command: process.execPath, args: [cli, "mcp"] };
const started = performance.now();
const client = new Client({ name: "sandkit-tour", version: "1.0.0" });
const transport = new StdioClientTransport({
  command: server.command,
  // The tour is of the embedded provider, whatever the user's own settings say.
  args: [...server.args, "--provider", "wasm"],
  stderr: "inherit",
});

let failures = 0;
await client.connect(transport);
try {
  const { tools } = await client.listTools();
  console.log(`MCP server ready in ${elapsed(started)} ms, tools: ${tools.map(({ name }) => name).join(", ")}`);
  for (const [index, { title, calls }] of tourSteps().entries()) {
    console.log(showTitle(index + 1, title));
    for (const call of calls) failures += (await perform(call)) ? 0 : 1;
  }
} finally {
  await client.close();
}

if (failures === 0) {
  const { file, text } = claudeDesktopConfig(server);
  console.log(`\nEvery result was as it must be. To give Claude Desktop this server, paste into\n${file}\n\n${text}`);
} else {
  console.error(`\n${failures} results were not what they must be: see the lines marked ✗`);
  process.exitCode = 1;
}

/** Makes one call, shows it with its result, and tells whether the result says what it must. */
async function perform(call: TourCall): Promise<boolean> {
  console.log(showCall(call));
  const start = performance.now();
  const { content, isError } = await client.callTool({ name: call.tool, arguments: { ...call.arguments } });
  const text = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  const missing = call.expect.filter((expected) => !text.includes(expected));
  console.log(showResult(text, performance.now() - start, missing.length === 0 && !isError));
  for (const expected of missing) console.log(`       missing: ${JSON.stringify(expected)}`);
  return missing.length === 0 && !isError;
}

function elapsed(since: number): string {
  return (performance.now() - since).toFixed(0);
}
