import { program } from "../program.js";
import { paintFor } from "../terminal.js";
import { version } from "../version.js";
import { JsonLinesClient } from "./json-lines-client.js";

/** In the order of preference. A later cell finds what an earlier one made. */
const cells = {
  python: ["squares = [n * n for n in range(10)]\nprint(squares)", "sum(squares)"],
  javascript: ["const squares = [...Array(10).keys()].map((n) => n * n)\nsquares", "squares.reduce((a, b) => a + b)"],
  shell: [
    "for n in 0 1 2 3 4 5 6 7 8 9; do echo $((n * n)); done > squares",
    "sum=0; while read n; do sum=$((sum + n)); done < squares; echo $sum",
  ],
} as const;

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
  const listed = JSON.stringify(await ask("tools/list", {}));
  const language =
    (["python", "javascript", "shell"] as const).find((name) => listed.includes(`"${name}"`)) ?? "python";
  let failed = false;
  for (const code of cells[language]) {
    const result = await ask("tools/call", { name: "run_code", arguments: { language, code } });
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
