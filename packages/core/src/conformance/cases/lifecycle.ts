import { strict as assert } from "node:assert";
import type { SandboxInfo } from "../../provider.js";
import type { Sandbox } from "../../sandbox.js";
import { equalBytes, failure, rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { beats } from "../heartbeat.js";
import { allBytes } from "../material.js";

/** What a sandbox is like from its first to its last moment. */
export const lifecycleCases: readonly ConformanceCase[] = [
  {
    id: "lifecycle.check",
    title: "check says in a line what was found",
    needs: [],
    async run({ provider }) {
      const { ok, detail, fix } = await provider.check();
      assert.equal(ok, true, `${detail}; ${fix?.join("; ")}`);
      assert.ok(detail.length > 0 && !detail.includes("\n"), JSON.stringify(detail));
    },
  },
  {
    id: "lifecycle.create.ready",
    title: "a created sandbox is ready: its working directory is there and writable",
    needs: ["files"],
    async run({ sandbox }) {
      const own = await sandbox();
      assert.ok(own.workdir.startsWith("/"), own.workdir);
      assert.equal((await own.files.stat(own.workdir)).type, "directory");
      await own.files.write("first", "first");
      assert.equal(await own.files.readText(`${own.workdir}/first`), "first");
    },
  },
  {
    id: "lifecycle.create.files",
    title: "files given at creation are there before the first command",
    needs: ["files"],
    async run({ sandbox }) {
      const own = await sandbox({ files: { "main.py": "print(1)\n", "data/all.bin": allBytes } });
      assert.equal(await own.files.readText("main.py"), "print(1)\n");
      equalBytes(await own.files.read("data/all.bin"), allBytes);
    },
  },
  {
    id: "lifecycle.create.workdir",
    title: "a working directory is honoured, or refused by name before anything is created",
    needs: ["files"],
    async run({ sandbox, created, unique }) {
      const workdir = `/tmp/${unique("sandkit work dir")}`;
      let own: Sandbox;
      try {
        own = await sandbox({ workdir });
      } catch (error) {
        await rejects(Promise.reject(error), ["UNSUPPORTED", "INVALID"], "workdir");
        assert.equal(created(), 0);
        return;
      }
      assert.equal(own.workdir, workdir);
      await own.files.write("file", "here");
      assert.equal(await own.files.readText(`${workdir}/file`), "here");
    },
  },
  {
    id: "lifecycle.create.aborted",
    title: "a creation that is aborted rejects with the reason and leaves nothing",
    needs: [],
    async run({ sandbox, created }) {
      const reason = new Error("changed my mind");
      assert.equal(await failure(sandbox({ signal: AbortSignal.abort(reason) })), reason);
      assert.equal(created(), 0);
    },
  },
  {
    id: "lifecycle.create.aborted.midway",
    title: "a creation that is aborted on the way leaves no sandbox in the list",
    needs: ["list"],
    async run({ sandbox, provider, unique }) {
      const labels = { conformance: unique("aborted") };
      const stop = new AbortController();
      const creation = sandbox({ labels, signal: stop.signal }).catch(() => undefined);
      stop.abort(new Error("changed my mind"));
      await creation;
      await within(
        20_000,
        "the late sandbox to go",
        emptied(() => all(provider.list({ labels }))),
      );
    },
  },
  {
    id: "lifecycle.info",
    title: "info tells the ref, that it runs, that it is new, since when, and its labels",
    needs: [],
    async run({ sandbox, provider, unique }) {
      const labels = { purpose: unique("info"), other: "Ä b" };
      const before = Date.now();
      const own = await sandbox({ labels });
      const info = await own.info();
      assert.deepEqual(info.ref, own.ref);
      assert.equal(own.ref.provider, provider.name);
      assert.deepEqual([info.state, info.origin], ["running", "created"]);
      for (const [name, value] of Object.entries(labels)) assert.equal(info.labels[name], value);
      assert.ok(Math.abs(info.createdAt.getTime() - before) < 120_000, `createdAt is ${info.createdAt.toISOString()}`);
    },
  },
  {
    id: "lifecycle.info.interpreters",
    title: "every shell and interpreter that info names can be started",
    needs: ["exec.argv"],
    async run({ shared }) {
      const { shells, interpreters } = await shared.info();
      for (const name of [...shells, ...interpreters]) {
        const result = await shared.exec([name], { timeoutMs: 20_000 });
        assert.deepEqual([name, result.reason, result.exitCode], [name, "exited", 0], result.stderr.text);
      }
    },
  },
  {
    id: "lifecycle.describe",
    title: "describe tells a model where it works",
    needs: [],
    async run({ shared }) {
      const text = await shared.describe();
      assert.ok(text.includes(shared.workdir), text);
    },
  },
  {
    id: "lifecycle.apart",
    title: "two sandboxes do not see each other's files",
    needs: ["files"],
    async run({ sandbox }) {
      const [one, two] = await Promise.all([sandbox(), sandbox()]);
      await one.files.write("mine", "one");
      assert.equal(await two.files.exists("mine"), false);
      await two.files.write("mine", "two");
      assert.equal(await one.files.readText("mine"), "one");
    },
  },
  {
    id: "lifecycle.destroy",
    title: "after destroy every call is NOT_FOUND, and destroying again is no error",
    needs: ["files"],
    reports: ["SWE-agent/mini-swe-agent#803", "UKGovernmentBEIS/inspect_ai#4740"],
    async run({ sandbox, capabilities }) {
      const own = await sandbox();
      await Promise.all([own.destroy(), own.destroy()]);
      await own.destroy();
      await rejects(own.files.read("file"), "NOT_FOUND", "destroyed");
      await rejects(own.files.write("file", ""), "NOT_FOUND", "destroyed");
      if (capabilities.features["exec.argv"]) await rejects(own.exec(["sh"]), "NOT_FOUND", "destroyed");
      if (capabilities.features["process.background"]) await rejects(own.spawn(["sh"]), "NOT_FOUND", "destroyed");
      if (capabilities.features["kernel.python"]) await rejects(own.runCode("1"), "NOT_FOUND", "destroyed");
    },
  },
  {
    id: "lifecycle.destroy.ends-work",
    title: "destroy ends running commands: their calls settle, and never as a success",
    needs: ["exec.argv", "files"],
    programs: ["ignore-term"],
    reports: ["cloudflare/sandbox-sdk#101", "cloudflare/sandbox-sdk#873"],
    async run({ sandbox, program }) {
      const own = await sandbox();
      const run = own.exec(program("ignore-term", "beat"));
      const outcome = run.then(
        (result) => result.reason,
        (error) => error.code,
      );
      await beats(own, "beat");
      await within(20_000, "destroy", own.destroy());
      const settled = await within(10_000, "the command", outcome);
      assert.ok(["signaled", "SANDBOX_LOST", "NOT_FOUND", "TRANSPORT"].includes(settled), `it ended as ${settled}`);
    },
  },
  {
    id: "lifecycle.destroy.ends-cells",
    title: "destroy ends running cells: their calls settle, and never as a success",
    needs: ["kernel.python", "files"],
    async run({ sandbox }) {
      const own = await sandbox();
      const cell = own.runCode("open('on', 'w').close()\nwhile True: pass");
      const outcome = cell.then(
        (result) => result.ok,
        (error) => error.code,
      );
      await waitForFile(own, "on");
      await within(20_000, "destroy", own.destroy());
      const settled = await within(10_000, "the cell", outcome);
      assert.ok([false, "SANDBOX_LOST", "NOT_FOUND"].includes(settled), `it ended as ${settled}`);
    },
  },
  {
    id: "lifecycle.dispose",
    title: "disposing a sandbox destroys it",
    needs: ["files"],
    async run({ sandbox }) {
      const own = await sandbox();
      await own[Symbol.asyncDispose]();
      await rejects(own.files.exists("file"), "NOT_FOUND");
    },
  },
];

async function waitForFile(sandbox: { files: { exists(path: string): Promise<boolean> } }, path: string) {
  for (let round = 0; round < 400 && !(await sandbox.files.exists(path)); round++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function all(infos: AsyncIterable<SandboxInfo>): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of infos) found.push(info);
  return found;
}

async function emptied(list: () => Promise<readonly unknown[]>): Promise<void> {
  while ((await list()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
}
