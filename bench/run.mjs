// npm run bench [-- wasm|javascript|mcp|network|docker|clouds]... [--quick | --full] [--image NAME] [--json FILE] [--markdown FILE]
// The figures, side by side in one run. Timings depend on the machine; the ratios are what counts.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { npm } from "../scripts/run-command.mjs";
import { isInstalled, setUp, wait } from "../scripts/set-up.mjs";
import { parts } from "./parts.mjs";
import { isMet, markdown, table } from "./report.mjs";
import { scaleFor } from "./scale.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    image: { type: "string", default: "sandkit/python:test" },
    json: { type: "string" },
    markdown: { type: "string" },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(`error  no part "${unknown.join('", "')}"\nfix    parts: ${Object.keys(parts).join(", ")}\n`);
  process.exit(2);
}

await setUp({ types: false });
const here = fileURLToPath(new URL(".", import.meta.url));
if (!isInstalled(here)) {
  await wait("installing the rivals (npm ci in bench/)", npm("ci", "--no-audit", "--no-fund", "--loglevel=error"), {
    cwd: here,
  });
}

const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}`;
/** @type {import("./parts.mjs").Measured[]} */
const measured = [];
for (const [name, measure] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const progress = (/** @type {string} */ message) => process.stderr.write(`${name.padEnd(7)} ${message}\n`);
  const outcome = await measure({ scale: scaleFor(options), image: options.image, progress });
  if ("skipped" in outcome) {
    process.stdout.write(`${name}: skipped: ${outcome.skipped}\n\n`);
    // Whoever asked for it by name must not take its absence for a result.
    if (positionals.includes(name)) process.exitCode = 1;
    continue;
  }
  measured.push(outcome);
  process.stdout.write(`${table(outcome)}\n\n`);
  if (outcome.chart) process.stdout.write(`exec of \`true\`, median\n${outcome.chart}\n\n`);
}
process.stdout.write(`${machine}\n`);

const rows = measured.flatMap(({ name, rows }) => rows.map((row) => ({ part: name, ...row, met: isMet(row) })));
if (options.json) {
  const text = JSON.stringify(
    { machine, date: new Date().toISOString(), arguments: process.argv.slice(2), rows },
    null,
    2,
  );
  writeFileSync(options.json, `${text}\n`);
}
if (options.markdown) writeFileSync(options.markdown, `${measured.map(markdown).join("\n\n")}\n\n${machine}\n`);
// A slow figure is a figure; something alive that must be dead is a wrong result.
const survivors = rows.find(({ id }) => id === "deadline.survivors");
if (survivors?.met === false) {
  process.stderr.write(`error  ${survivors.sandkit} processes outlived their deadline\n`);
  process.exitCode = 1;
}
if (rows.some(({ sandkit }) => sandkit === Number.POSITIVE_INFINITY)) {
  process.stderr.write("error  a container outlived its owner\n");
  process.exitCode = 1;
}
