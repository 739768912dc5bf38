import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";

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

afterAll(() => rm(wheelDir, { recursive: true }));

describe.skipIf(!(await fetched()))("wheels that people use", () => {
  it("install from a directory and run", async () => {
    const sandbox = await createSandbox(wasm({ packages: { wheelDir } }), { packages: wanted });
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
  }, 60_000);
});
