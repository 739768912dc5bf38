import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../../scripts/test-live.mjs", import.meta.url));

/** Of `npm run test:live`, without any key. */
function live(...words: string[]) {
  const { E2B_API_KEY: _e2b, DAYTONA_API_KEY: _daytona, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [script, ...words], { env, encoding: "utf8" });
  return { status, stderr };
}

it("the suite against the services says which keys it lacks, and is no success", () => {
  expect(live()).toEqual({ status: 3, stderr: expect.stringMatching(/E2B_API_KEY or DAYTONA_API_KEY/) });
  expect(live("daytona")).toEqual({ status: 3, stderr: expect.stringMatching(/set DAYTONA_API_KEY/) });
  expect(live("elsewhere").status).toBe(2);
});
