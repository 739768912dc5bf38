// npm run check [-- --all] [--without STAGE]... [--report FILE]
// Everything that must hold before a change is done. Stops at the first failure unless --all.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { npm, root, runCommand, tool } from "./run-command.mjs";
import { setUp, turbo } from "./set-up.mjs";

const { values: options } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    without: { type: "string", multiple: true, default: [] },
    report: { type: "string" },
  },
});

/** @type {Record<string, readonly string[]>} */
const stages = {
  "format and lint": tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."),
  build: turbo("build"),
  typecheck: turbo("typecheck", "typecheck:root"),
  test: npm("test", "--silent"),
  conformance: npm("run", "--silent", "conformance"),
  "other Nodes": npm("run", "--silent", "test:nodes"),
  packages: npm("run", "--silent", "pack:check"),
  "unused code": tool("knip/bin/knip.js", "--treat-config-hints-as-errors"),
};
const unknown = options.without.filter((name) => !(name in stages));
if (unknown.length > 0) {
  process.stderr.write(`error  no stage "${unknown.join('", "')}"\nfix    stages: ${Object.keys(stages).join(", ")}\n`);
  process.exit(2);
}

await setUp();
/** @type {{ name: string, ok: boolean, seconds: number }[]} */
const results = [];
for (const [name, command] of Object.entries(stages)) {
  if (options.without.includes(name)) continue;
  process.stdout.write(`\n── ${name}\n`);
  const start = performance.now();
  const { code } = await runCommand(command, { show: true, cwd: root });
  results.push({ name, ok: code === 0, seconds: (performance.now() - start) / 1000 });
  if (code !== 0 && !options.all) break;
}

process.stdout.write("\n");
for (const { name, ok, seconds } of results) {
  process.stdout.write(`${ok ? "ok    " : "FAILED"}  ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s\n`);
}
if (options.report) writeFileSync(options.report, JSON.stringify(results));
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
