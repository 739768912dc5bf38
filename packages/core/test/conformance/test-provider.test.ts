import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { title: string; status: string; failureMessages: readonly string[] }[];
  }[];
}

/** Runs vitest on a file of its own, as the author of a provider would. */
function runVitest(root: string): Promise<Report> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const { VITEST: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [vitest, "run", "--root", root, "--reporter", "json"],
      { env },
      (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout));
        } catch {
          reject(error ?? new Error(stderr));
        }
      },
    );
  });
}

it("registers a test per case, whose result is the outcome of the case", { timeout: 60_000 }, async () => {
  const { testResults } = await runVitest(fileURLToPath(new URL("./fixture", import.meta.url)));
  const found = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ title, status, failureMessages }) => [title, status, failureMessages[0]?.split("\n")[0]]);
  expect(found).toEqual([
    ["sample.passes: a file is read back", "passed", undefined],
    ["sample.fails: something fails", "failed", "Error: it is broken"],
    ["sample.skipped: something else fails", "skipped", undefined],
    ["sample.stale: a skip is out of date", "failed", expect.stringContaining('the skip of "sample.stale" is stale')],
    ["sample.inapplicable: a command runs", "skipped", undefined],
    [expect.stringContaining("proves something"), "failed", expect.stringContaining("proves it: attach")],
  ]);
});
