import { strict as assert } from "node:assert";
import { equalBytes, rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { allBytes, awkwardNames, pattern } from "../material.js";
import { type TarEntry, tarOf } from "../tar.js";

/** Imports a hostile archive into `inside`; nothing beside it may change. Gives the error of the import, if any. */
async function harmless({ shared, path }: ConformanceContext, ...entries: readonly TarEntry[]): Promise<unknown> {
  const { files } = shared;
  await files.write(path("outside/victim"), "untouched");
  const error = await files.importTar(tarOf(...entries), path("inside")).catch((reason: unknown) => reason);
  assert.equal(await files.readText(path("outside/victim")), "untouched");
  assert.equal((await files.list(path("outside"))).length, 1);
  assert.equal(await files.exists(path("escaped")), false);
  return error;
}

async function refused(context: ConformanceContext, ...entries: readonly TarEntry[]): Promise<void> {
  const error = await harmless(context, ...entries);
  await rejects(error === undefined ? Promise.resolve() : Promise.reject(error), "INVALID");
}

/** Directories move between sandboxes as tar archives, and hostile archives stay harmless. */
export const archiveCases: readonly ConformanceCase[] = [
  {
    id: "files.tar.round-trip",
    title: "a directory comes back from its archive as it was",
    needs: ["files"],
    async run({ shared, path }) {
      const { files } = shared;
      await files.write(path("from/data.bin"), allBytes);
      await files.write(path("from/tool"), "#!/bin/sh\n", { permissions: 0o755 });
      await files.write(path("from/large"), pattern(500_000));
      await files.mkdir(path("from/empty"));
      await files.importTar(await files.exportTar(path("from")), path("to"));
      equalBytes(await files.read(path("to/data.bin")), allBytes);
      equalBytes(await files.read(path("to/large")), pattern(500_000));
      assert.equal((await files.stat(path("to/tool"))).mode, 0o755);
      assert.deepEqual(await files.list(path("to/empty")), []);
      assert.equal((await files.list(path("to"), { recursive: true })).length, 4);
    },
  },
  {
    id: "files.tar.names",
    title: "an archive keeps names of every kind",
    needs: ["files"],
    async run({ shared, path }) {
      const { files } = shared;
      for (const name of Object.values(awkwardNames)) await files.write(path(`from/${name}/${name}`), name);
      await files.importTar(await files.exportTar(path("from")), path("to"));
      for (const name of Object.values(awkwardNames)) {
        assert.equal(await files.readText(path(`to/${name}/${name}`)), name);
      }
    },
  },
  {
    id: "files.tar.between-sandboxes",
    title: "an archive of one sandbox can be imported into another",
    needs: ["files"],
    async run({ shared, sandbox, path }) {
      await shared.files.writeAll({ [path("work/main.py")]: "print(1)\n", [path("work/data/a.csv")]: "1,2\n" });
      const other = await sandbox();
      await other.files.importTar(await shared.files.exportTar(path("work")), "work");
      assert.equal(await other.files.readText("work/data/a.csv"), "1,2\n");
    },
  },
  {
    id: "files.tar.symlinks",
    title: "an archive keeps links as links",
    needs: ["files", "files.symlink"],
    async run({ shared, path }) {
      const { files } = shared;
      await files.importTar(tarOf({ name: "file", body: "x" }, { name: "link", linkTo: "file" }), path("from"));
      await files.importTar(await files.exportTar(path("from")), path("to"));
      const link = await files.stat(path("to/link"), { followSymlinks: false });
      assert.deepEqual([link.type, link.symlinkTarget], ["symlink", "file"]);
    },
  },
  {
    id: "files.tar.parent-names",
    title: "an archive entry whose name climbs out is refused",
    needs: ["files"],
    reports: ["yaalalabs/agent-kernel#364"],
    async run(context) {
      await refused(context, { name: "../escaped", body: "out" });
      await refused(context, { name: "a/../../outside/victim", body: "out" });
    },
  },
  {
    id: "files.tar.absolute-names",
    title: "an archive entry with an absolute name is refused",
    needs: ["files"],
    reports: ["yaalalabs/agent-kernel#364"],
    async run(context) {
      const { shared, path } = context;
      await refused(context, { name: `${shared.workdir}/${path("escaped")}`.slice(0, 100), body: "out" });
    },
  },
  {
    id: "files.tar.through-links",
    title: "an archive cannot write through a link that it brings or finds",
    needs: ["files", "files.symlink"],
    reports: ["yaalalabs/agent-kernel#364"],
    async run(context) {
      const { shared, path } = context;
      const { files } = shared;
      await harmless(context, { name: "way", linkTo: "../outside" }, { name: "way/victim", body: "changed" });
      await harmless(context, { name: "way/", body: "" }, { name: "way/new", body: "" }, { name: "way", linkTo: "." });
      await files.importTar(tarOf({ name: "link", linkTo: "../outside" }), path("found"));
      await rejects(files.importTar(tarOf({ name: "link/victim", body: "changed" }), path("found")), "INVALID");
      assert.equal(await files.readText(path("outside/victim")), "untouched");
    },
  },
  {
    id: "files.tar.over-a-link",
    title: "an archive entry with the name of a link does not write through it",
    needs: ["files", "files.symlink"],
    async run(context) {
      const { shared, path } = context;
      await shared.files.importTar(tarOf({ name: "file", linkTo: "../outside/victim" }), path("inside"));
      await harmless(context, { name: "file", body: "changed" });
      await harmless(context, { name: "twice", linkTo: "../outside/victim" }, { name: "twice", body: "changed" });
    },
  },
  {
    id: "files.tar.hard-links",
    title: "hard links in an archive are refused",
    needs: ["files"],
    async run(context) {
      await refused(context, { name: "hard", hardLinkTo: "../outside/victim" });
    },
  },
  {
    id: "files.tar.garbage",
    title: "what is no archive is INVALID",
    needs: ["files"],
    async run({ shared, path }) {
      await rejects(shared.files.importTar(new Blob([allBytes]).stream(), path("inside")), "INVALID");
    },
  },
];
