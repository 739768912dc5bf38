import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm());
});
afterAll(() => sandbox.destroy());

const look = { recursive: true };

/** What the listing says of one file, asked twice so that the latest answer is at hand. */
async function listed(path: string) {
  await sandbox.files.list(".", look);
  const found = await sandbox.files.list(".", look);
  return found.find((file) => file.path === `/workspace/${path}`);
}

/** Runs code that must succeed, in Python. */
async function cell(code: string): Promise<void> {
  const { error } = await sandbox.runCode(code);
  expect(error?.traceback).toBeUndefined();
}

describe("a listing that was just asked for is made anew", () => {
  it.each([
    ["made", "open('made', 'w').write('12')", "made", { size: 2 }],
    ["appended to", "open('made', 'a').write('34')", "made", { size: 4 }],
    ["cut", "open('made', 'r+').truncate(1)", "made", { size: 1 }],
    ["changed the permissions of", "import os; os.chmod('made', 0o600)", "made", { mode: 0o600 }],
    ["changed the time of", "os.utime('made', (5, 5))", "made", { modifiedAt: new Date(5_000) }],
    ["renamed", "os.makedirs('deep/down'); os.rename('made', 'deep/down/moved')", "deep/down/moved", { size: 1 }],
    ["linked to", "os.symlink('deep', 'link')", "link", { type: "symlink" }],
    ["removed", "os.remove('deep/down/moved')", "deep/down/moved", undefined],
  ])("when a cell has %s a file", async (_what, code, path, seen) => {
    await listed(path);
    await cell(code);
    if (seen === undefined) expect(await listed(path)).toBeUndefined();
    else expect(await listed(path)).toMatchObject(seen);
  });

  it("when the caller has written, appended, moved, linked or removed one", async () => {
    const { files } = sandbox;
    expect(await listed("own")).toBeUndefined();
    await files.write("own", "1");
    expect(await listed("own")).toMatchObject({ size: 1 });
    await files.write("own", "2", { mode: "append" });
    expect(await listed("own")).toMatchObject({ size: 2 });
    await files.move("own", "other");
    expect(await listed("own")).toBeUndefined();
    await files.mkdir("place");
    expect(await listed("place")).toMatchObject({ type: "directory" });
    await files.remove("other");
    expect(await listed("other")).toBeUndefined();
  });

  it("when a program has written one before it says so, and goes on", async () => {
    await listed("said");
    const code = "open('said', 'w').write('x'); print('done', flush=True); input()";
    const process = await sandbox.spawn(["python3", "-c", code]);
    for await (const { text } of process.output) if (text.includes("done")) break;
    expect(await listed("said")).toMatchObject({ size: 1 });
    await process.kill();
  });

  it("when a timer between two cells has written one, without a word", async () => {
    await listed("later");
    const code = "setTimeout(() => require('fs').writeFileSync('later', 'x'), 50)";
    expect((await sandbox.runCode(code, { language: "javascript" })).error).toBeUndefined();
    await expect.poll(() => listed("later"), { timeout: 10_000 }).toMatchObject({ size: 1 });
  });

  it("when it is asked for of another directory, or otherwise", async () => {
    await cell("os.makedirs('a/b', exist_ok=True)");
    const paths = async (path: string, options?: object) =>
      (await sandbox.files.list(path, options)).map((file) => file.path);
    expect(await paths("a", look)).toEqual(["/workspace/a/b"]);
    expect(await paths("a/b", look)).toEqual([]);
    expect(await paths("a", { recursive: true, limit: 1 })).toEqual(["/workspace/a/b"]);
  });
});
