/** Makes the cache of the shell's compiled code at build time, for this version of V8; others compile it anew. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openShellRealm } from "../worker/shell-realm.js";

const artifacts = dirname(fileURLToPath(import.meta.url));
/** They work on nothing: there is no broker here. */
const scripts = [
  'true; echo a b | cat; x=$(printf %s a); [ -n "$x" ] && echo "${x^^}" >/dev/null',
  'for i in 1 2 3; do if [[ $i == 2 ]]; then echo "$((i + 1))"; fi; done | grep -n 3 | sed s/3/4/ | sort | uniq',
  "seq 3 | while read -r line; do echo $line; done | head -2 | wc -l; echo a:b | cut -d: -f1 | tr a b",
  "f() { local x=1; return 0; }; set -euo pipefail; f; case a in a) : ;; esac; echo 1 | awk '{print $1}'",
];
const noFiles = JSON.stringify({ error: "ENOENT" });
const { shell, cache } = openShellRealm(readFileSync(`${artifacts}/shell.js`, "utf8"), {
  call: () => noFiles,
  write: () => true,
});
await shell.warmUp(JSON.stringify(scripts));
writeFileSync(`${artifacts}/shell.cache`, cache());
writeFileSync(
  `${artifacts}/shell.json`,
  JSON.stringify({ v8: process.versions.v8, commands: `${shell.commands}`.split(" ") }),
);

/** Packages whose code is in `shell.js`: the terms of each go with it. */
const bundled = ["just-bash", "diff", "minimatch", "brace-expansion", "balanced-match", "sprintf-js"];
writeFileSync(`${artifacts}/shell-licenses.txt`, bundled.map(licenseOf).join("\n"));

function licenseOf(name: string): string {
  const entry = createRequire(createRequire(import.meta.url).resolve("just-bash")).resolve(name);
  const end = entry.lastIndexOf(join("node_modules", name)) + join("node_modules", name).length;
  const directory = entry.slice(0, end);
  const file = readdirSync(directory).find((file) => /^licen[sc]e(?:\.md|\.txt)?$/i.test(file));
  if (file === undefined) throw new Error(`${name} has no license file in ${directory}`);
  return `${name}\n\n${readFileSync(join(directory, file), "utf8")}`;
}
