import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("what-loads.mjs", import.meta.url));
const packages = fileURLToPath(new URL("../../", import.meta.url));
/** Each takes milliseconds to load. */
const heavy = ["child_process", "crypto", "dns", "fs/promises", "http", "https", "net", "stream", "tls", "zlib"];

it.each(["core", "provider-e2b", "provider-daytona", "provider-docker", "provider-wasm"])(
  "importing @sandkit/%s loads two files of its own and two of core, and no large module of Node",
  (name) => {
    const output = execFileSync(process.execPath, [program, `@sandkit/${name}`], { encoding: "utf8" });
    const loaded: { files: string[]; builtins: string[] } = JSON.parse(output);
    const files = loaded.files.map((url) => fileURLToPath(url).slice(packages.length));
    for (const file of files) {
      expect([`core`, name].flatMap((of) => [`${of}/dist/index.js`, `${of}/dist/index-parts.js`])).toContain(file);
    }
    expect(files).toContain(`${name}/dist/index.js`);
    expect(loaded.builtins.filter((builtin) => heavy.includes(builtin))).toEqual([]);
  },
);
