/** Makes the cache of the shell's compiled code at build time, for this version of V8; others compile it anew. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
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
writeFileSync(`${artifacts}/shell.json`, JSON.stringify({ v8: process.versions.v8 }));
