// npm run bench: the figures, side by side in one run. Timings depend on the machine; the ratios are what counts.
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { npm } from "../scripts/run-command.mjs";
import { setUp, wait } from "../scripts/set-up.mjs";

const rounds = 7;
const calls = 200;

await setUp({ types: false });
const here = fileURLToPath(new URL(".", import.meta.url));
if (!existsSync(`${here}node_modules`)) {
  await wait("installing the rivals (npm ci in bench/)", npm("ci", "--no-audit", "--no-fund", "--loglevel=error"), {
    cwd: here,
  });
}
const { coldStarts } = await import("./cold-start.mjs");
const { mcpOverhead } = await import("./mcp-overhead.mjs");

const { naive, sandkit } = await coldStarts(rounds);
const mcp = await mcpOverhead(calls);
const rows = [
  ["", "loadPyodide in Node", "Sandkit (wasm)", "ratio"],
  [
    "process start → first Python result",
    ms(naive.firstMs),
    ms(sandkit.firstMs),
    ratio(naive.firstMs, sandkit.firstMs),
  ],
  ["a later cell", ms(naive.laterMs), ms(sandkit.laterMs), ratio(naive.laterMs, sandkit.laterMs)],
  [
    "resident memory, whole process tree",
    mib(naive.rssBytes),
    mib(sandkit.rssBytes),
    ratio(naive.rssBytes, sandkit.rssBytes),
  ],
  [],
  ["", "SDK", "MCP over stdio", "added"],
  ["a cell", ms(mcp.sdkMs), ms(mcp.mcpMs), ms(mcp.mcpMs - mcp.sdkMs)],
  ["tools/list (o200k)", "", `${mcp.toolTokens} tokens`, ""],
];
const widths = [38, 21, 16, 8];
for (const row of rows)
  console.log(
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("")
      .trimEnd(),
  );
console.log(
  `\nNode ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; medians of ${rounds} interleaved runs, of ${calls} calls`,
);

/** @param {number} value */
function ms(value) {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}

/** @param {number} bytes */
function mib(bytes) {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

/**
 * How many times less Sandkit takes.
 * @param {number} theirs
 * @param {number} ours
 */
function ratio(theirs, ours) {
  return `${(theirs / ours).toFixed(1)} ×`;
}
