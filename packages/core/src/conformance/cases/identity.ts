import { strict as assert } from "node:assert";
import type { Provider, SandboxRef } from "../../provider.js";
import { failure, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Finding sandboxes again: by name, by ref, by label. */
export const identityCases: readonly ConformanceCase[] = [
  {
    id: "lifecycle.name.same-options",
    title: "creating with the name and options of a living sandbox gives that one",
    needs: ["files", "attach"],
    async run({ sandbox, unique }) {
      const options = { name: unique("named"), env: { A: "1" }, labels: { b: "2", a: "1" } };
      const first = await sandbox(options);
      await first.files.write("mark", "first");
      const second = await sandbox({ labels: { a: "1", b: "2" }, env: { A: "1" }, name: options.name });
      assert.deepEqual(second.ref, first.ref);
      assert.equal(await second.files.readText("mark"), "first");
      assert.deepEqual([(await first.info()).origin, (await second.info()).origin], ["created", "attached"]);
      assert.equal((await second.info()).name, options.name);
    },
  },
  {
    id: "lifecycle.name.other-options",
    title: "creating with the name but not the options of a living sandbox is CONFLICT",
    needs: ["attach", "files"],
    async run({ sandbox, unique }) {
      const name = unique("named");
      const first = await sandbox({ name, env: { A: "1" } });
      await rejects(sandbox({ name, env: { A: "2" } }), "CONFLICT", name);
      await rejects(sandbox({ name }), "CONFLICT", name);
      await first.files.write("lives", "on");
    },
  },
  {
    id: "lifecycle.name.after-destroy",
    title: "after destroy the name is free for a new sandbox",
    needs: ["attach", "files"],
    async run({ sandbox, unique }) {
      const name = unique("named");
      const first = await sandbox({ name });
      await first.files.write("mark", "first");
      await first.destroy();
      const second = await sandbox({ name, env: { OTHER: "options" } });
      assert.notEqual(second.ref.id, first.ref.id);
      assert.equal(await second.files.exists("mark"), false);
      assert.equal((await second.info()).origin, "created");
    },
  },
  {
    id: "lifecycle.name.at-once",
    title: "creations of one name at the same time give one sandbox",
    needs: ["attach"],
    async run({ sandbox, unique }) {
      const name = unique("named");
      const made = await Promise.all([sandbox({ name }), sandbox({ name }), sandbox({ name })]);
      assert.equal(new Set(made.map(({ ref }) => ref.id)).size, 1);
    },
  },
  {
    id: "lifecycle.name.aborted",
    title: "giving up a second creation of a name leaves the living sandbox alone",
    needs: ["attach", "files"],
    async run({ sandbox, unique }) {
      const name = unique("named");
      const first = await sandbox({ name });
      await first.files.write("mark", "first");
      const stop = new AbortController();
      const second = failure(sandbox({ name, signal: stop.signal }));
      stop.abort(new Error("changed my mind"));
      await second;
      const third = await sandbox({ name });
      assert.deepEqual(third.ref, first.ref);
      assert.equal(await third.files.readText("mark"), "first");
    },
  },
  {
    id: "lifecycle.attach",
    title: "a sandbox is found again by its ref, which is plain JSON",
    needs: ["attach", "files"],
    async run({ sandbox, attach }) {
      const own = await sandbox();
      await own.files.write("mark", "here");
      const ref: SandboxRef = JSON.parse(JSON.stringify(own.ref));
      const found = await attach(ref);
      assert.equal(await found.files.readText("mark"), "here");
      assert.deepEqual([found.ref, found.workdir], [own.ref, own.workdir]);
      assert.equal((await found.info()).origin, "attached");
      await found.files.write("mark", "both ways");
      assert.equal(await own.files.readText("mark"), "both ways");
    },
  },
  {
    id: "lifecycle.attach.gone",
    title: "a sandbox that was destroyed or never existed is NOT_FOUND",
    needs: ["attach"],
    reports: ["vercel/eve#2373"],
    async run({ sandbox, attach, provider }) {
      const own = await sandbox();
      await own.destroy();
      await rejects(attach(own.ref), "NOT_FOUND", own.ref.id);
      await rejects(attach({ provider: provider.name, id: "never-existed" }), "NOT_FOUND", "never-existed");
    },
  },
  {
    id: "lifecycle.attach.foreign",
    title: "the ref of another provider is INVALID",
    needs: ["attach"],
    async run({ attach, provider }) {
      await rejects(attach({ provider: `not-${provider.name}`, id: "1" }), "INVALID", `not-${provider.name}`);
    },
  },
  {
    id: "lifecycle.attach.shared-end",
    title: "destroying through one handle ends the sandbox for the other",
    needs: ["attach", "files"],
    async run({ sandbox, attach }) {
      const own = await sandbox();
      const found = await attach(own.ref);
      await found.destroy();
      await rejects(own.files.read("file"), ["NOT_FOUND", "SANDBOX_LOST"]);
      await own.destroy();
    },
  },
  {
    id: "lifecycle.list",
    title: "living sandboxes are listed, all or those with given labels",
    needs: ["list"],
    async run({ sandbox, provider, unique }) {
      const group = unique("group");
      const one = await sandbox({ labels: { group, color: "red" } });
      const two = await sandbox({ labels: { group, color: "blue" } });
      const ids = (labels?: Record<string, string>) => listed(provider, labels);
      assert.deepEqual(await ids({ group }), [one.ref.id, two.ref.id].sort());
      assert.deepEqual(await ids({ group, color: "blue" }), [two.ref.id]);
      assert.deepEqual(await ids({ group, color: "green" }), []);
      const everything = await ids();
      assert.ok(everything.includes(one.ref.id) && everything.includes(two.ref.id));
      await one.destroy();
      assert.deepEqual(await ids({ group }), [two.ref.id]);
    },
  },
  {
    id: "lifecycle.reap.spares-the-living",
    title: "reaping leaves the sandboxes of a living owner alone",
    needs: ["files"],
    reports: ["NousResearch/hermes-agent#29123"],
    async run({ sandbox, provider }) {
      const own = await sandbox();
      const reaped = await provider.reap({ olderThanMs: 0 });
      assert.ok(!reaped.some(({ id }) => id === own.ref.id));
      await own.files.write("lives", "on");
    },
  },
];

async function listed(provider: Provider, labels?: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { ref } of provider.list({ labels })) ids.push(ref.id);
  return ids.sort();
}
