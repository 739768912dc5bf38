import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterAll, describe, expect, it } from "vitest";
import { type WasmOptions, wasm } from "../../src/index.js";
import { indexAddress } from "../../src/packages/index-address.js";

const wheelDir = await mkdtemp(join(tmpdir(), "sandkit-real-wheels-"));
const wanted = ["rich==14.*", "attrs", "python-dateutil"];

/** Whether this machine's pip could fetch them: by its own settings, from wherever these say. */
async function fetched(): Promise<boolean> {
  const args = ["-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", wheelDir, ...wanted];
  try {
    await promisify(execFile)("python3", args, { timeout: 60_000 });
    return true;
  } catch (error) {
    console.warn(`real wheels are not tested, because pip cannot fetch them here: ${error}`);
    return false;
  }
}

/** Whether the index of this machine's environment, or else the public one, answers at all. */
async function answers(): Promise<boolean> {
  try {
    const index = indexAddress({}, process.env);
    return index !== undefined && (await fetch(new URL("attrs/", index), { signal: AbortSignal.timeout(20_000) })).ok;
  } catch (error) {
    console.warn(`wheels of the index are not tested, because it cannot be reached from here: ${error}`);
    return false;
  }
}

const [hasWheels, hasIndex] = await Promise.all([fetched(), answers()]);
const cacheDir = await mkdtemp(join(tmpdir(), "sandkit-real-cache-"));

afterAll(() => Promise.all([wheelDir, cacheDir].map((directory) => rm(directory, { recursive: true }))));

async function installAndRun(packages: WasmOptions["packages"]): Promise<void> {
  const sandbox = await createSandbox(wasm({ packages }), { packages: wanted });
  try {
    const { error, value } = await sandbox.runCode(`
import attrs, dateutil.parser, io
from rich.console import Console
from rich.table import Table

@attrs.define
class Row:
  name: str
  when: str

table = Table("name", "year")
for row in [Row("a", "3 May 2026"), Row("b", "2025-01-31T10:00Z")]:
  table.add_row(row.name, str(dateutil.parser.parse(row.when).year))
console = Console(file=io.StringIO(), width=40)
console.print(table)
text = console.file.getvalue()
["2026" in text, "2025" in text]`);
    expect([error, value]).toEqual([undefined, [true, true]]);
    const tool = await sandbox.exec(["python3", "-m", "rich.markdown", "--help"]);
    expect(tool.exitCode).toBe(0);
  } finally {
    await sandbox.destroy();
  }
}

describe("wheels that people use install and run", () => {
  const deadlineMs = 60_000;
  it.skipIf(!hasWheels)("from a directory", () => installAndRun({ wheelDir, indexUrl: false }), deadlineMs);
  it.skipIf(!hasIndex)("from an index", () => installAndRun({ cacheDir }), deadlineMs);
});
