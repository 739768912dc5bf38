import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../../sandbox.js";
import { eventually, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Waits until a sandbox has ended by itself, without using it. */
async function ended(sandbox: Sandbox): Promise<void> {
  await eventually("the end of the sandbox", async () => (await stateOf(sandbox)) === "gone", 20_000);
  await rejects(sandbox.files.write("late", "x"), ["EXPIRED", "NOT_FOUND"], sandbox.ref.id);
}

async function stateOf(sandbox: Sandbox): Promise<string> {
  return sandbox.info().then(
    ({ state }) => state,
    (error) => (error.code === "EXPIRED" || error.code === "NOT_FOUND" ? "gone" : Promise.reject(error)),
  );
}

/** Sandboxes end by themselves, when they should and not before. */
export const lifetimeCases: readonly ConformanceCase[] = [
  {
    id: "lifecycle.ttl",
    title: "a sandbox ends ttlMs after its creation, and says when beforehand",
    needs: ["lifetime.ttl", "files"],
    reports: ["traceroot-ai/traceroot#2101", "vybestack/llxprt-code#3449", "DrejT/alineo#262"],
    async run({ sandbox, attach, capabilities }) {
      const before = Date.now();
      const own = await sandbox({ lifetime: { ttlMs: 1_500 } });
      await own.files.write("early", "x");
      const { expiresAt } = await own.info();
      assert.ok(expiresAt, "info has no expiresAt");
      const lifeMs = expiresAt.getTime() - before;
      assert.ok(lifeMs > 1_000 && lifeMs < 60_000, `it expires ${lifeMs} ms after creation`);
      await ended(own);
      if (capabilities.features.attach) await rejects(attach(own.ref), ["EXPIRED", "NOT_FOUND"]);
      await own.destroy();
    },
  },
  {
    id: "lifecycle.ttl.busy",
    title: "the end comes also for a sandbox that is working, whose calls settle",
    needs: ["lifetime.ttl", "exec.argv"],
    programs: ["sleep"],
    async run({ sandbox, program }) {
      const own = await sandbox({ lifetime: { ttlMs: 1_500 } });
      const outcome = await own.exec(program("sleep", "60")).then(
        (result) => result.reason,
        (error) => error.code,
      );
      assert.ok(["signaled", "SANDBOX_LOST", "EXPIRED", "NOT_FOUND", "TRANSPORT"].includes(outcome), outcome);
    },
  },
  {
    id: "lifecycle.extend",
    title: "extend moves the end",
    needs: ["lifetime.ttl", "files"],
    reports: ["opensandbox-group/OpenSandbox#1200"],
    async run({ sandbox }) {
      const own = await sandbox({ lifetime: { ttlMs: 1_200 } });
      await own.extend(60_000);
      const { expiresAt } = await own.info();
      assert.ok(expiresAt && expiresAt.getTime() - Date.now() > 30_000, `expiresAt is ${expiresAt?.toISOString()}`);
      await pause(1_500);
      await own.files.write("lives", "on");
      await own.extend(300);
      await ended(own);
    },
  },
  {
    id: "lifecycle.idle",
    title: "a sandbox ends idleMs after its last use, and use keeps it",
    needs: ["lifetime.idle", "files"],
    reports: ["opensandbox-group/OpenSandbox#759"],
    async run({ sandbox }) {
      const own = await sandbox({ lifetime: { idleMs: 1_200 } });
      for (let round = 0; round < 4; round++) {
        await pause(400);
        await own.files.write("used", `${round}`);
      }
      await ended(own);
    },
  },
  {
    id: "lifecycle.idle.working",
    title: "a command that runs is use",
    needs: ["lifetime.idle", "exec.argv"],
    programs: ["sleep"],
    async run({ sandbox, program }) {
      const own = await sandbox({ lifetime: { idleMs: 700 } });
      assert.equal((await own.exec(program("sleep", "1.6"))).reason, "exited");
    },
  },
  {
    id: "lifecycle.idle.transfer",
    title: "a file that is being written is use",
    needs: ["lifetime.idle", "files"],
    async run({ sandbox }) {
      const own = await sandbox({ lifetime: { idleMs: 700 } });
      let pieces = 0;
      const data = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await pause(400);
          controller.enqueue(Buffer.from(`${pieces}`));
          pieces += 1;
          if (pieces === 4) controller.close();
        },
      });
      await own.files.write("slow", data);
      assert.equal(await own.files.readText("slow"), "0123");
    },
  },
];
