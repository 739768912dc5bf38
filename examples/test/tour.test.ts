import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { tourSteps } from "../tour/steps.js";

const tour = fileURLToPath(new URL("../dist/tour.js", import.meta.url));

it("goes through every step on the embedded provider and ends with a config to paste", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tour]);
  expect(stderr).toBe("");
  for (const { title } of tourSteps()) expect(stdout).toContain(title);
  expect(stdout).not.toContain("✗");
  const config = JSON.parse(stdout.slice(stdout.indexOf('{\n  "mcpServers"')));
  expect(config.mcpServers.sandkit).toEqual({
    command: process.execPath,
    args: [expect.stringMatching(/^\/.*packages\/cli\/bin\/sandkit\.js$/), "mcp"],
  });
});
