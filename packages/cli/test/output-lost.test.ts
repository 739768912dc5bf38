import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, environment, sandkit, start } from "./sandkit.js";

describe.skipIf(!existsSync("/dev/full"))("output that cannot be written", () => {
  it.each([
    ["of a program", ["run", "-e", "print(1)"]],
    ["of --json", ["run", "--json", "-e", "print(1)"]],
    ["of help", ["help", "--json"]],
  ])("%s is told in one line, with exit code 3", async (_, args) => {
    const child = spawn(process.execPath, [bin, ...args], {
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
      env: environment,
    });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
    const [code] = await once(child, "close");
    expect(stderr).toMatch(/^sandkit: the output cannot be written: .*ENOSPC.*\n$/);
    expect(code).toBe(3);
  });

  it("because nobody reads it ends the program", async () => {
    const running = start(["run", "-e", "while True: print('x' * 1000)"]);
    await running.printed("x");
    running.child.stdout.destroy();
    expect(await running.outcome).toMatchObject({ code: 141, stderr: "" });
  });
});

describe("a program without an end", () => {
  it("is refused on stdin", async () => {
    const { code, stderr } = await sandkit(["run", "-"], Buffer.alloc(70 * 1024 * 1024, "#"));
    expect(stderr).toMatch(/^error {2}USAGE: the program on stdin is above 64 MiB\nfix /);
    expect(code).toBe(2);
  });

  it.skipIf(!existsSync("/dev/zero"))("is refused as a file", async () => {
    const { code, stderr } = await sandkit(["run", "--language", "python", "/dev/zero"]);
    expect(stderr).toContain('the program on "/dev/zero" is above 64 MiB');
    expect(code).toBe(2);
  });
});

it("a check that failed is told once, not again as a page of JSON", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sandkit-cli-"));
  try {
    const config = join(folder, "config.json");
    await writeFile(config, JSON.stringify({ options: { bogus: 1 } }));
    const { code, stderr } = await sandkit(["run", "--config", config, "-e", "1"]);
    expect(stderr).toMatch(/^error {2}INVALID: .*"bogus".*\n$/);
    expect(code).toBe(2);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
