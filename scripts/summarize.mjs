// The last line of .ci/run: summarize.mjs FOLDER TESTS STAGES OTHER...
// FOLDER has the reports of the tests and the stages; the rest are exit codes.
import { existsSync, readFileSync } from "node:fs";

const [folder = "", ...exitCodes] = process.argv.slice(2);
const [tests = 1, stages = 1, ...others] = exitCodes.map(Number);
const { numPassedTests = 0, numFailedTests = 0 } = read("tests.json") ?? {};
/** @type {{ name: string, ok: boolean }[]} */
const results = read("stages.json") ?? [];
const failedStages = results.filter(({ ok }) => !ok).length;
const failedOthers = others.filter((code) => code !== 0).length;

const passed = numPassedTests + results.length - failedStages + others.length - failedOthers;
const failed = failuresOf(numFailedTests, tests) + failuresOf(failedStages, stages) + failedOthers;
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

/**
 * A run that failed without a failure to count (a file that does not load, no report at all) counts as one.
 * @param {number} counted
 * @param {number} exitCode
 */
function failuresOf(counted, exitCode) {
  return counted === 0 && exitCode !== 0 ? 1 : counted;
}

/** @param {string} name */
function read(name) {
  const path = `${folder}/${name}`;
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
