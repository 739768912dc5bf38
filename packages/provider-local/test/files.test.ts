import { createReadStream } from "node:fs";
import { link, lstat, mkdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { local } from "../src/index.js";

describe("files of the host", () => {
  let sandbox: Sandbox;
  const at = (name: string) => `${sandbox.workdir}/${name}`;

  beforeAll(async () => {
    sandbox = await createSandbox(local());
  });
  afterAll(() => sandbox.destroy());

  it("refuses pipes and devices instead of hanging on them", async () => {
    await sandbox.exec(["mkfifo", "pipe"]);
    await expect(sandbox.files.read("pipe")).rejects.toMatchObject({ code: "INVALID" });
    await expect(sandbox.files.write("pipe", "x")).rejects.toMatchObject({ code: "INVALID" });
    await expect(sandbox.files.read("/dev/zero")).rejects.toMatchObject({ code: "INVALID" });
    await expect(sandbox.files.write("/dev/null", "x")).rejects.toMatchObject({ code: "INVALID" });
    expect((await lstat("/dev/null")).isCharacterDevice()).toBe(true);
    expect(await sandbox.files.stat("pipe")).toMatchObject({ type: "other" });
  });

  it("writes through links and keeps the mode of what is there", async () => {
    await writeFile(at("real"), "old", { mode: 0o754 });
    await symlink("real", at("one"));
    await symlink(at("one"), at("two"));
    await sandbox.files.write("two", "new");
    expect(await readFile(at("real"), "utf8")).toBe("new");
    expect(await readlink(at("two"))).toBe(at("one"));
    expect((await stat(at("real"))).mode & 0o777).toBe(0o754);
    await symlink("absent", at("dangling"));
    await sandbox.files.write("dangling", "made");
    expect(await readFile(at("absent"), "utf8")).toBe("made");
    await symlink("loop", at("loop"));
    await expect(sandbox.files.write("loop", "x")).rejects.toMatchObject({ code: "INVALID" });
  });

  it("leaves the old bytes, and nothing beside them, after a write that fails", async () => {
    await mkdir(at("atomic"));
    await sandbox.files.write("atomic/file", "old");
    const failing = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(100_000));
        controller.error(new Error("source broke"));
      },
    });
    await expect(sandbox.files.write("atomic/file", failing)).rejects.toThrow("source broke");
    expect(await sandbox.files.readText("atomic/file")).toBe("old");
    expect(await sandbox.files.list("atomic")).toHaveLength(1);
  });

  it("gives the failure of the caller's own source back as it is", async () => {
    const source = Readable.toWeb(createReadStream("/nonexistent/source")) as ReadableStream<Uint8Array>;
    await expect(sandbox.files.write("copy", source)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(sandbox.files.stat("copy")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("lets exactly one of many writers win that saw the same version", async () => {
    await sandbox.files.write("version", "0");
    const { modifiedAt } = await sandbox.files.stat("version");
    const writes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        sandbox.files.write("version", `${index}`, { ifModifiedAt: modifiedAt }),
      ),
    );
    expect(writes.filter((write) => write.status === "fulfilled")).toHaveLength(1);
  });

  it("lets exactly one of many exclusive writers win", async () => {
    const writes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => sandbox.files.write("lock", `${index}`, { mode: "exclusive" })),
    );
    expect(writes.filter((write) => write.status === "fulfilled")).toHaveLength(1);
  });

  it("does not change what a hard link of the old bytes shows", async () => {
    await sandbox.files.write("first", "old");
    await link(at("first"), at("second"));
    await sandbox.files.write("first", "new");
    expect(await sandbox.files.readText("second")).toBe("old");
  });

  it("lists in the order of whole paths, with a limit that keeps it", async () => {
    for (const name of ["tree/a/b", "tree/a.txt", "tree/a-b", "tree/a/c/d", "tree/z"])
      await sandbox.files.write(name, "");
    const all = await sandbox.files.list("tree", { recursive: true });
    const names = all.map(({ path }) => path.slice(at("tree/").length));
    expect(names).toEqual(["a", "a-b", "a.txt", "a/b", "a/c", "a/c/d", "z"]);
    const some = await sandbox.files.list("tree", { recursive: true, limit: 5, maxDepth: 2 });
    expect(some.map(({ path }) => path)).toEqual(all.slice(0, 5).map(({ path }) => path));
  });
});
