import { createHash, randomBytes } from "node:crypto";
import { attachSandbox, createSandbox } from "@sandkit/core";
import { expect } from "vitest";
import { type BadCloud, living } from "./bad-days.js";

/** One life of a sandbox, by each way to it that the vendor's SDK has: for lines of Node that run nothing else of a cloud. */
export async function roundTrip(cloud: BadCloud): Promise<void> {
  const sandbox = await createSandbox(cloud.provider, { lifetime: { detached: true }, labels: { round: "trip" } });
  const given = randomBytes(300_000);
  const { stdout, stderr, exitCode } = await sandbox.exec("cat; echo err >&2; exit 7", { stdin: given });
  expect([exitCode, stderr.text, digest(stdout.bytes)]).toEqual([7, "err\n", digest(given)]);
  expect((await sandbox.exec("sleep 60 & sleep 60", { timeoutMs: 300 })).reason).toBe("timeout");
  await sandbox.runCode("x = 20");
  expect((await sandbox.runCode("x + 1")).value).toBe(21);
  const content = randomBytes(3_000_000);
  await sandbox.files.write("large", content);
  expect(digest(await sandbox.files.read("large"))).toBe(digest(content));
  await sandbox.pause();
  expect((await living(cloud.provider, { round: "trip" })).map(({ state }) => state)).toEqual(["paused"]);
  const other = await attachSandbox(cloud.other(), sandbox.ref);
  await other.resume();
  expect(digest(await other.files.read("large"))).toBe(digest(content));
  await other.destroy();
  expect(await living(cloud.provider)).toEqual([]);
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
