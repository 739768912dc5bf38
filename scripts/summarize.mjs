// The end of .ci/run: what was tried again and what failed, by name, then one line of counts:
// summarize.mjs FOLDER TESTS STAGES OTHER...
// FOLDER has the reports of the tests and the stages; the rest are exit codes.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/**
 * @typedef {{ status: string, fullName: string, failureMessages: string[] }} TestResult
 * @typedef {{ name: string, message: string, assertionResults: TestResult[] }} TestFile
 */

const [folder = "", ...exitCodes] = process.argv.slice(2);
const [tests = 1, stages = 1, ...others] = exitCodes.map(Number);
/** @type {{ numPassedTests?: number, numFailedTests?: number, testResults?: TestFile[] }} */
const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = read("tests.json") ?? {};
/** @type {{ name: string, ok: boolean }[]} */
const results = read("stages.json") ?? [];
const failedStages = results.filter(({ ok }) => !ok).length;
const failedOthers = others.filter((code) => code !== 0).length;

const passed = numPassedTests + results.length - failedStages + others.length - failedOthers;
const failures = [
  ...testResults.flatMap(failuresIn),
  ...results.filter(({ ok }) => !ok).map(({ name }) => `stage ${name}`),
  ...others.flatMap((code, at) => (code === 0 ? [] : [`command ${at + 1} of the README: exit code ${code}`])),
];
if (tests !== 0 && numFailedTests === 0) failures.push(`tests: exit code ${tests}, with no test that failed`);
for (const retried of testResults.flatMap(retriesIn)) process.stdout.write(`\nTRIED AGAIN ${retried}\n`);
for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
// Once more without what each said, so that the end of a long log has all their names.
for (const failure of failures) process.stdout.write(`\nfailed: ${failure.split("\n", 1)[0]}\n`);

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

/**
 * @param {TestFile} file
 * @returns {string[]}
 */
function failuresIn({ name, message, assertionResults }) {
  const file = relative(process.cwd(), name);
  const tests = assertionResults.filter(({ status }) => status === "failed");
  if (tests.length === 0) return message === "" ? [] : [`${file}: ${message}`];
  return tests.map(({ fullName, failureMessages }) => `${file}: ${fullName}\n${failureMessages.join("\n")}`);
}

/**
 * Tests that passed and not at once: what went wrong before stays with them.
 * @param {TestFile} file
 * @returns {string[]}
 */
function retriesIn({ name, assertionResults }) {
  const tests = assertionResults.filter(
    ({ status, failureMessages }) => status === "passed" && failureMessages.length > 0,
  );
  return tests.map(({ fullName, failureMessages }) => {
    const reasons = failureMessages.map((message) => message.split("\n")[0]);
    return `${relative(process.cwd(), name)}: ${fullName}\n${reasons.join("\n")}`;
  });
}

/** @param {string} name */
function read(name) {
  const path = `${folder}/${name}`;
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
