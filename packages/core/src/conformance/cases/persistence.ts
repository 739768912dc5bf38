import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import type { Provider } from "../../provider.js";
import type { Sandbox } from "../../sandbox.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { beatCount, beats, goesOn, silent } from "../heartbeat.js";
import { tarOf } from "../tar.js";

/** Sandboxes that are kept, copied or found again. */
export const persistenceCases: readonly ConformanceCase[] = [
  {
    id: "lifecycle.pause",
    title: "a paused sandbox keeps its files and, resumed, goes on",
    needs: ["pause", "files"],
    reports: ["e2b-dev/E2B#884", "e2b-dev/E2B#1104"],
    async run({ sandbox }) {
      const own = await sandbox();
      for (let round = 0; round < 2; round++) {
        await own.files.write(`kept-${round}`, `round ${round}`);
        await own.pause();
        assert.equal((await own.info()).state, "paused");
        await own.resume();
        assert.equal((await own.info()).state, "running");
        assert.equal(await own.files.readText(`kept-${round}`), `round ${round}`);
      }
      assert.equal(await own.files.readText("kept-0"), "round 0");
      await own.resume();
      await own.pause();
      await own.pause();
      await rejects(own.files.readText("kept-0"), "UNAVAILABLE", "resume");
      await own.destroy();
    },
  },
  {
    id: "lifecycle.pause.processes",
    title: "processes stand still while a sandbox is paused, and go on after it",
    needs: ["pause", "exec.argv", "process.background", "files"],
    programs: ["heartbeat"],
    async run({ sandbox, program }) {
      const own = await sandbox();
      await own.spawn(program("heartbeat", "beat"));
      await beats(own, "beat");
      const before = await beatCount(own, "beat");
      await own.pause();
      await pause(2_000);
      await own.resume();
      // Running through the pause, it would have beaten 40 times.
      assert.ok((await beatCount(own, "beat")) - before < 20, "the program went on during the pause");
      await goesOn(own, "beat");
    },
  },
  {
    id: "lifecycle.snapshot",
    title: "a sandbox made from a snapshot has the files of then, and is another one",
    needs: ["snapshot", "files"],
    async run({ sandbox, unique, provider, capabilities }) {
      const own = await sandbox();
      await own.files.write("file", "then");
      await own.files.write("deep/er/tool", "#!/bin/sh\n", { permissions: 0o750 });
      if (capabilities.features["files.symlink"]) await own.files.importTar(tarOf({ name: "link", linkTo: "deep" }));
      const before = await recordsOf(own);
      const { id } = await own.snapshot(unique("snapshot"));
      try {
        await own.files.write("file", "now");
        const other = await sandbox({ snapshot: id });
        assert.notEqual(other.ref.id, own.ref.id);
        assert.equal(await other.files.readText("file"), "then");
        assert.deepEqual(await recordsOf(other), before);
        if (!provider.snapshots || !provider.removeSnapshot) return;
        assert.ok((await snapshotIds(provider)).includes(id), "the snapshot is not listed");
        assert.equal(await provider.removeSnapshot(id), true);
        assert.equal(await provider.removeSnapshot(id), false);
        assert.ok(!(await snapshotIds(provider)).includes(id), "the snapshot is still listed");
        assert.equal(await other.files.readText("file"), "then");
        await rejects(sandbox({ snapshot: id }), "NOT_FOUND", id);
      } finally {
        // There is none any more, unless something failed.
        await provider.removeSnapshot?.(id);
      }
    },
  },
  {
    id: "lifecycle.fork",
    title: "forks have the files of the original and then go their own way",
    needs: ["fork", "files"],
    async run({ sandbox }) {
      const own = await sandbox();
      await own.files.write("file", "common");
      for (const count of [0, -1, 1.5, 1e9]) await rejects(own.fork(count), "INVALID", "fork");
      const forks = await own.fork(2);
      assert.equal(new Set([own, ...forks].map(({ ref }) => ref.id)).size, 3);
      try {
        await Promise.all(forks.map((fork, number) => fork.files.write("mine", `${number}`)));
        for (const [number, fork] of forks.entries()) {
          assert.equal(await fork.files.readText("file"), "common");
          assert.equal(await fork.files.readText("mine"), `${number}`);
        }
        assert.equal(await own.files.exists("mine"), false);
      } finally {
        await Promise.all(forks.map((fork) => fork.destroy()));
      }
    },
  },
  {
    id: "lifecycle.detached",
    title: "a detached sandbox is found by its ref and can be destroyed by who found it",
    needs: ["lifetime.detached", "attach", "files"],
    async run({ sandbox, attach }) {
      const own = await sandbox({ lifetime: { detached: true } });
      await own.files.write("mark", "here");
      const found = await attach(own.ref);
      assert.equal(await found.files.readText("mark"), "here");
      await found.destroy();
    },
  },
  {
    id: "process.reattach",
    title: "a running process is found by its id through another handle",
    needs: ["process.reattach", "attach", "process.background", "exec.argv", "exec.killTree", "files"],
    programs: ["heartbeat"],
    reports: ["e2b-dev/E2B#1074"],
    async run({ sandbox, attach, program }) {
      const own = await sandbox();
      const { id } = await own.spawn(program("heartbeat", "beat"));
      await beats(own, "beat");
      const found = await (await attach(own.ref)).process(id);
      assert.ok(found, `process ${id} is not found`);
      await found.kill();
      await silent(own, "beat");
    },
  },
];

/** What is in the workdir, but for what shells and vendors keep there. */
async function recordsOf({ files, workdir }: Sandbox) {
  const all = await files.list(".", { recursive: true });
  const records = all.map(({ path, type, mode, symlinkTarget }) => ({
    path: path.slice(workdir.length),
    type,
    mode,
    symlinkTarget,
  }));
  return records.filter(({ path }) => !path.startsWith("/."));
}

async function snapshotIds(provider: Provider): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of provider.snapshots?.() ?? []) ids.push(id);
  return ids;
}
