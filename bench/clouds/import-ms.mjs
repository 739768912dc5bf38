import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../statistics.mjs";

const folder = fileURLToPath(new URL("../../packages/cli/", import.meta.url));

/**
 * How long a program waits for the import of a package: the clock runs in a process of its own, from before the import.
 * @param {string} name
 * @param {number} rounds
 */
export function importMs(name, rounds) {
  const program = `const start = performance.now(); await import("${name}"); console.log(performance.now() - start)`;
  const once = () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" }));
  // The first fills the caches of the disk.
  once();
  return median(Array.from({ length: rounds }, once));
}
