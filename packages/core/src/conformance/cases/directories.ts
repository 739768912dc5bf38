import { strict as assert } from "node:assert";
import type { FileInfo } from "../../provider.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

const names = (entries: readonly FileInfo[], below: string) => entries.map(({ path }) => path.slice(below.length + 1));

/** Directories, records and the errors of both. */
export const directoryCases: readonly ConformanceCase[] = [
  {
    id: "files.list",
    title: "a listing has the direct entries with their records, in the order of code units",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.writeAll({
        [path("l/b")]: "12",
        [path("l/a/deep")]: "",
        [path("l/B")]: "",
        [path("l/é")]: "",
      });
      const entries = await shared.files.list(path("l"));
      assert.deepEqual(names(entries, `${shared.workdir}/${path("l")}`), ["B", "a", "b", "é"]);
      assert.deepEqual(
        entries.map(({ type }) => type),
        ["file", "directory", "file", "file"],
      );
      assert.equal(entries[2]?.size, 2);
      assert.deepEqual(entries[2], await shared.files.stat(path("l/b")));
    },
  },
  {
    id: "files.list.empty",
    title: "the listing of an empty directory is empty",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.mkdir(path("empty"));
      assert.deepEqual(await shared.files.list(path("empty")), []);
    },
  },
  {
    id: "files.list.recursive",
    title: "a recursive listing goes to the depth asked for and stops at the limit",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.writeAll({ [path("l/1")]: "", [path("l/a/2")]: "", [path("l/a/b/3")]: "" });
      const list = async (options: object) =>
        names(await shared.files.list(path("l"), options), `${shared.workdir}/${path("l")}`);
      assert.deepEqual(await list({ recursive: true }), ["1", "a", "a/2", "a/b", "a/b/3"]);
      assert.deepEqual(await list({ recursive: true, maxDepth: 2 }), ["1", "a", "a/2", "a/b"]);
      assert.deepEqual(await list({ recursive: true, maxDepth: 1 }), ["1", "a"]);
      assert.deepEqual(await list({ recursive: true, limit: 3 }), ["1", "a", "a/2"]);
    },
  },
  {
    id: "files.list.many",
    title: "a directory of 500 files is listed whole",
    needs: ["files", "exec.argv"],
    programs: ["write"],
    async run({ shared, program, path }) {
      await shared.files.mkdir(path("many"));
      const files = Array.from({ length: 500 }, (_, index) => [path(`many/${index}`), ""]);
      (await shared.exec(program("write", ...files.flat()))).orThrow();
      assert.equal((await shared.files.list(path("many"))).length, 500);
    },
  },
  {
    id: "files.list.errors",
    title: "listing what is missing is FILE_NOT_FOUND, listing a file NOT_DIRECTORY",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "");
      await rejects(shared.files.list(path("nothing")), "FILE_NOT_FOUND", "nothing");
      await rejects(shared.files.list(path("file")), "NOT_DIRECTORY", "file");
    },
  },
  {
    id: "files.stat",
    title: "stat tells path, type, size, permissions and time of the last change",
    needs: ["files"],
    async run({ shared, path }) {
      const before = Date.now();
      await shared.files.write(path("file"), "12345");
      const info = await shared.files.stat(path("file"));
      assert.deepEqual(
        [info.path, info.type, info.size, info.symlinkTarget],
        [`${shared.workdir}/${path("file")}`, "file", 5, undefined],
      );
      const age = info.modifiedAt.getTime() - before;
      assert.ok(Math.abs(age) < 60_000, `modifiedAt is ${age} ms from now`);
      assert.equal((await shared.files.stat(path())).type, "directory");
    },
  },
  {
    id: "files.missing",
    title: "what is missing is FILE_NOT_FOUND, and exists says false",
    needs: ["files"],
    async run({ shared, path }) {
      await rejects(shared.files.read(path("nothing")), "FILE_NOT_FOUND", "nothing");
      await rejects(shared.files.stat(path("nothing")), "FILE_NOT_FOUND", "nothing");
      await rejects(shared.files.move(path("nothing"), path("elsewhere")), "FILE_NOT_FOUND", "nothing");
      assert.equal(await shared.files.exists(path("nothing")), false);
      assert.equal(await shared.files.exists(path("nothing/at/all")), false);
      assert.equal(await shared.files.exists(path()), true);
    },
  },
  {
    id: "files.directory-for-file",
    title: "a directory where a file is expected is IS_DIRECTORY",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.mkdir(path("directory"));
      await rejects(shared.files.read(path("directory")), "IS_DIRECTORY", "directory");
      await rejects(shared.files.write(path("directory"), "data"), "IS_DIRECTORY", "directory");
      assert.equal((await shared.files.stat(path("directory"))).type, "directory");
    },
  },
  {
    id: "files.file-for-directory",
    title: "a path that leads through a file is NOT_DIRECTORY",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "data");
      await rejects(shared.files.read(path("file/below")), "NOT_DIRECTORY", "file");
      await rejects(shared.files.write(path("file/below"), "data"), "NOT_DIRECTORY", "file");
      await rejects(shared.files.mkdir(path("file/below")), "NOT_DIRECTORY", "file");
      await rejects(shared.files.mkdir(path("file")), "FILE_EXISTS", "file");
      assert.equal(await shared.files.readText(path("file")), "data");
    },
  },
  {
    id: "files.move",
    title: "move renames files and directories, replaces a file, and makes parents",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.writeAll({ [path("from")]: "new", [path("to")]: "old", [path("folder/in")]: "in" });
      await shared.files.move(path("from"), path("to"));
      assert.equal(await shared.files.readText(path("to")), "new");
      assert.equal(await shared.files.exists(path("from")), false);
      await shared.files.move(path("folder"), path("deep/er/folder"));
      assert.equal(await shared.files.readText(path("deep/er/folder/in")), "in");
    },
  },
  {
    id: "files.remove",
    title: "remove says whether something was there",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "");
      assert.equal(await shared.files.remove(path("file")), true);
      assert.equal(await shared.files.remove(path("file")), false);
      assert.equal(await shared.files.remove(path("nothing/at/all")), false);
      assert.equal(await shared.files.exists(path("file")), false);
    },
  },
  {
    id: "files.remove.directory",
    title: "a directory is removed only with recursive, and then with all in it",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.writeAll({ [path("full/a/b")]: "", [path("full/c")]: "" });
      await rejects(shared.files.remove(path("full")), "IS_DIRECTORY", "full");
      assert.equal(await shared.files.exists(path("full/a/b")), true);
      assert.equal(await shared.files.remove(path("full"), { recursive: true }), true);
      assert.equal(await shared.files.exists(path("full")), false);
    },
  },
  {
    id: "files.paths",
    title: "paths are absolute or relative to the working directory, and normalised",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(`./${path("x/..")}//file`, "here");
      assert.equal(await shared.files.readText(`${shared.workdir}/${path("file")}`), "here");
      assert.equal((await shared.files.stat(`${path("file")}/`)).path, `${shared.workdir}/${path("file")}`);
    },
  },
  {
    id: "files.paths.invalid",
    title: "an empty path and one with NUL are INVALID",
    needs: ["files"],
    async run({ shared }) {
      for (const bad of ["", "a\0b"]) {
        await rejects(shared.files.read(bad), "INVALID", "path");
        await rejects(shared.files.write(bad, "data"), "INVALID", "path");
        await rejects(shared.files.stat(bad), "INVALID", "path");
        await rejects(shared.files.remove(bad), "INVALID", "path");
        await rejects(shared.files.list(bad), "INVALID", "path");
        await rejects(shared.files.mkdir(bad), "INVALID", "path");
        await rejects(shared.files.move(bad, "there"), "INVALID", "path");
        await rejects(shared.files.move("there", bad), "INVALID", "path");
      }
    },
  },
];
