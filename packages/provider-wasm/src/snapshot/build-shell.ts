/** Makes the cache of the shell's compiled code at build time, for this version of V8; others compile it anew. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
/** Packages whose code just-bash has taken into its own bundle. */
const inlined = [
  "re2js",
  "file-type",
  "strtok3",
  "token-types",
  "@borewit/text-codec",
  "@tokenizer/inflate",
  "fflate",
  "uint8array-extras",
  "ieee754",
];
const justBash = dirname(createRequire(import.meta.url).resolve("just-bash"));
const named = [...readFileSync(`${artifacts}/shell.js`, "utf8").matchAll(/^ *((?:@[\w.-]+\/)?[\w.-]+)\/\S+:$/gm)];
for (const [, name = ""] of named) {
  if (!bundled.includes(name) && !inlined.includes(name)) throw new Error(`shell.js has code of ${name}: list it here`);
}
if (named.length === 0) throw new Error("shell.js no longer says whose code it has: look for it in another way");
writeFileSync(`${artifacts}/shell-licenses.txt`, [...bundled, ...inlined].map(licenseOf).join("\n"));

function licenseOf(name: string): string {
  const directory = directoryOf(name, justBash);
  const file = readdirSync(directory).find((file) => /^licen[sc]e(?:\.md|\.txt)?$/i.test(file));
  if (file === undefined) throw new Error(`${name} has no license file in ${directory}`);
  return `${name}\n\n${readFileSync(join(directory, file), "utf8")}`;
}

/** Where a package is that code in a directory would find. */
function directoryOf(name: string, from: string): string {
  const directory = join(from, "node_modules", name);
  if (existsSync(join(directory, "package.json"))) return directory;
  if (dirname(from) === from) throw new Error(`${name} is not installed`);
  return directoryOf(name, dirname(from));
}
