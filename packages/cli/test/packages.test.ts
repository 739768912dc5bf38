import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { sandkit } from "./sandkit.js";

const folder = await mkdtemp(join(tmpdir(), "sandkit-with-"));
const config = join(folder, "config.json");
await writeFile(config, JSON.stringify({ options: { packages: { wheelDir: folder } } }));
for (const name of ["one", "two"]) await makeWheel(name);
afterAll(() => rm(folder, { recursive: true }));

/** A wheel is a zip archive: Python's own module makes it. */
async function makeWheel(name: string): Promise<void> {
  const program = `
import sys, zipfile
name, folder = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/{name}-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{name}.py", f"NAME = {name!r}")
    wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\\nVersion: 1.0\\n")
`;
  await promisify(execFile)("python3", ["-c", program, name, folder]);
}

it("sandkit run --with installs packages before the program starts, as often as it is given", async () => {
  const code = "import one, two; print(one.NAME, two.NAME)";
  const outcome = await sandkit(["run", "--config", config, "--with", "one", "--with=two==1.*", "-e", code]);
  expect(outcome).toMatchObject({ code: 0, stdout: "one two\n", stderr: "" });
});

it("sandkit run --with says why a package cannot be had", async () => {
  const outcome = await sandkit(["run", "--config", config, "--with", "one>1", "-e", "print(1)"]);
  expect(outcome).toMatchObject({ code: 2, stdout: "" });
  expect(outcome.stderr).toContain('package "one": no version fits: asked for: one>1; there are 1.0');
});
