import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Emulated, emulated } from "./emulated.js";

const bin = fileURLToPath(new URL("../../cli/bin/sandkit.js", import.meta.url));
let one: Emulated;
let folder: string;

beforeAll(async () => {
  one = await emulated();
  folder = await mkdtemp(join(tmpdir(), "sandkit-daytona-"));
  const options = { apiUrl: one.emulator.url };
  await writeFile(join(folder, "config.json"), JSON.stringify({ provider: "daytona", options }));
});

afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** `sandkit run` as a user has it. */
function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const all = [bin, "run", "--config", join(folder, "config.json"), ...args];
    const child = execFile(process.execPath, all, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

describe("sandkit run with a config line", { timeout: 60_000 }, () => {
  it("runs at Daytona, gives the program's exit code, and leaves nothing", async () => {
    const outcome = await run(["-e", "print(6 * 7); raise SystemExit(3)"], { DAYTONA_API_KEY: one.emulator.apiKey });
    expect(outcome).toMatchObject({ code: 3, stdout: "42\n" });
    for await (const { ref } of one.provider.list()) throw new Error(`sandbox ${ref.id} is left`);
  });

  it("without a key says which variable to set", async () => {
    const { code, stdout, stderr } = await run(["-e", "print(1)"], { DAYTONA_API_KEY: "" });
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(stderr).toContain("DAYTONA_API_KEY");
  });
});
