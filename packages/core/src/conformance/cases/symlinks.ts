import { strict as assert } from "node:assert";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { tarOf } from "../tar.js";

/** Links are made by importing an archive, which needs nothing in the box. */
export const symlinkCases: readonly ConformanceCase[] = [
  {
    id: "files.symlink.stat",
    title: "a link is followed, or told apart with where it leads",
    needs: ["files", "files.symlink"],
    async run({ shared, path }) {
      await shared.files.importTar(
        tarOf(
          { name: "file", body: "target" },
          { name: "link", linkTo: "file" },
          { name: "dangling", linkTo: "nowhere" },
        ),
        path(),
      );
      assert.equal((await shared.files.stat(path("link"))).type, "file");
      const link = await shared.files.stat(path("link"), { followSymlinks: false });
      assert.deepEqual([link.type, link.symlinkTarget], ["symlink", "file"]);
      await rejects(shared.files.stat(path("dangling")), "FILE_NOT_FOUND", "dangling");
      assert.equal(await shared.files.exists(path("dangling")), true);
    },
  },
  {
    id: "files.symlink.list",
    title: "a listing shows links and does not enter what they lead to",
    needs: ["files", "files.symlink"],
    async run({ shared, path }) {
      await shared.files.write(path("folder/file"), "");
      await shared.files.importTar(tarOf({ name: "link", linkTo: "folder" }, { name: "loop", linkTo: "." }), path());
      const entries = await shared.files.list(path(), { recursive: true });
      const below = `${shared.workdir}/${path()}/`;
      assert.deepEqual(
        entries.map((entry) => `${entry.type} ${entry.path.slice(below.length)}`),
        ["directory folder", "file folder/file", "symlink link", "symlink loop"],
      );
    },
  },
  {
    id: "files.symlink.write-through",
    title: "reading and writing follow a link and leave it a link",
    needs: ["files", "files.symlink"],
    async run({ shared, path }) {
      await shared.files.importTar(tarOf({ name: "file", body: "old" }, { name: "link", linkTo: "file" }), path());
      await shared.files.write(path("link"), "new");
      assert.equal(await shared.files.readText(path("file")), "new");
      assert.equal((await shared.files.stat(path("link"), { followSymlinks: false })).type, "symlink");
    },
  },
  {
    id: "files.symlink.remove",
    title: "removing a link leaves what it leads to",
    needs: ["files", "files.symlink"],
    async run({ shared, path }) {
      await shared.files.write(path("folder/file"), "kept");
      await shared.files.importTar(tarOf({ name: "link", linkTo: "folder" }), path());
      assert.equal(await shared.files.remove(path("link"), { recursive: true }), true);
      assert.equal(await shared.files.exists(path("link")), false);
      assert.equal(await shared.files.readText(path("folder/file")), "kept");
    },
  },
];
