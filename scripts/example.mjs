// npm run example NAME: runs examples/NAME.ts.
import { readdirSync } from "node:fs";
import { root } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

const names = readdirSync(`${root}examples`)
  .filter((file) => file.endsWith(".ts") && !file.includes(".test.") && !file.includes(".config."))
  .map((file) => file.slice(0, -".ts".length));
const name = process.argv[2] ?? "";
if (names.includes(name)) {
  await setUp({ types: false });
  await import(`../examples/dist/${name}.js`);
} else {
  process.stderr.write(`error  no example "${name}"\nfix    npm run example ${names.join(" | ")}\n`);
  process.exitCode = 2;
}
