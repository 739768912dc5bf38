// The last line of .ci/run. Arguments: the folder with the reports, and the exit codes of the tests, the stages, the tour.
import { existsSync, readFileSync } from "node:fs";

const [folder = "", ...exitCodes] = process.argv.slice(2);
const [tests = 1, stages = 1, tour = 1] = exitCodes.map(Number);
let passed = 0;
let failed = 0;

const vitest = read("tests.json");
passed += vitest?.numPassedTests ?? 0;
failed += vitest?.numFailedTests ?? 0;
// A file that does not load, or a run that never came to its report, has no failed test to count.
if (tests !== 0 && !(vitest?.numFailedTests > 0)) failed += 1;

const results = read("stages.json") ?? [];
for (const { ok } of results) ok ? passed++ : failed++;
if (stages !== 0 && results.every((/** @type {{ ok: boolean }} */ { ok }) => ok)) failed += 1;

tour === 0 ? passed++ : failed++;
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** @param {string} name */
function read(name) {
  const path = `${folder}/${name}`;
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
