import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { median } from "./statistics.mjs";
import { timed } from "./timed.mjs";

const code = "sum(range(100))";

/**
 * One cell called through the SDK, and the same cell through the MCP server over stdio, in turns; and what the list of
 * tools costs a model.
 * @param {number} calls
 */
export async function mcpOverhead(calls) {
  const cli = fileURLToPath(import.meta.resolve("sandkit/bin/sandkit.js"));
  const client = new Client({ name: "sandkit-bench", version: "1.0.0" });
  const server = { command: process.execPath, args: [cli, "mcp", "--provider", "wasm"] };
  const [sandbox] = await Promise.all([createSandbox(wasm()), client.connect(new StdioClientTransport(server))]);
  try {
    /** @type {number[]} */
    const sdk = [];
    /** @type {number[]} */
    const mcp = [];
    // The first calls warm both sides up.
    for (let call = -10; call < calls; call++) {
      const sdkMs = await timed(() => sandbox.runCode(code));
      const mcpMs = await timed(() => client.callTool({ name: "run_code", arguments: { code } }));
      if (call < 0) continue;
      sdk.push(sdkMs);
      mcp.push(mcpMs);
    }
    const { tools } = await client.listTools();
    return { sdkMs: median(sdk), mcpMs: median(mcp), toolTokens: encode(JSON.stringify({ tools })).length };
  } finally {
    await Promise.all([client.close(), sandbox.destroy()]);
  }
}
