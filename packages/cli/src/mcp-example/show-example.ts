import { program } from "../program.js";
import { paintFor } from "../terminal.js";
import { version } from "../version.js";
import { JsonLinesClient } from "./json-lines-client.js";

/** A later cell uses what an earlier one made. */
const cells = ["squares = [n * n for n in range(10)]\nprint(squares)", "sum(squares)"];

/**
 * `sandkit mcp example`: a client starts the server as any client does, runs two cells, and prints what goes over the
 * wire, shortened where it is long. Resolves with the exit code.
 * @param args Of `sandkit mcp stdio`: which provider, which config.
 */
export async function showExample(args: readonly string[]): Promise<number> {
  const paint = paintFor(process.stdout);
  const client = new JsonLinesClient(process.execPath, [program, "mcp", "stdio", ...args]);
  const ask = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
    process.stdout.write(`${paint("cyan", "→")} ${method} ${JSON.stringify(params)}\n`);
    const { result, error } = await client.request(method, params);
    process.stdout.write(`${paint("green", "←")} ${short(method, result ?? { error })}\n`);
    return result ?? { isError: true };
  };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "sandkit-example", version },
  });
  client.notify("notifications/initialized");
  await ask("tools/list", {});
  let failed = false;
  for (const code of cells) {
    const result = await ask("tools/call", { name: "run_code", arguments: { language: "python", code } });
    failed ||= result.isError === true;
  }
  await client.close();
  return failed ? 1 : 0;
}

/** What a reader wants to see of an answer. */
function short(method: string, result: Readonly<Record<string, unknown>>): string {
  if (method === "initialize") return JSON.stringify({ ...result, instructions: undefined });
  if (Array.isArray(result.tools))
    return JSON.stringify({ tools: result.tools.map(({ name }) => ({ name, "…": "…" })) });
  return JSON.stringify({ ...result, _meta: undefined });
}
