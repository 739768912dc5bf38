import { strict as assert } from "node:assert";
import { SandboxError } from "../../errors.js";
import type { Sandbox } from "../../sandbox.js";
import { eventually, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** After an excess the sandbox works, once what it had is given back, or says that it is lost; it never pretends. */
async function worksOrIsLost(sandbox: Sandbox, command: readonly string[]): Promise<void> {
  await eventually("a command that works, or SANDBOX_LOST", async () => {
    try {
      return (await sandbox.exec(command)).ok;
    } catch (error) {
      if (error instanceof SandboxError && error.code === "QUOTA") return false;
      if (error instanceof SandboxError && error.code === "SANDBOX_LOST") return true;
      throw error;
    }
  });
}

/** A cap holds, and reaching it is told as what it is. */
export const resourceCases: readonly ConformanceCase[] = [
  {
    id: "resources.memory",
    title: "a program that wants more memory than the cap fails, and only that",
    needs: ["resources.memory", "exec.argv"],
    programs: ["allocate", "exit"],
    reports: ["daytonaio/daytona#5140"],
    limitMs: 60_000,
    async run({ sandbox, program }) {
      const own = await sandbox({ resources: { memoryMiB: 256 } });
      const result = await own.exec(program("allocate", "1024"), { timeoutMs: 30_000 });
      assert.equal(result.ok, false);
      assert.ok(["oom", "signaled", "exited"].includes(result.reason), `it ended as ${result.reason}`);
      await worksOrIsLost(own, program("exit", "0"));
    },
  },
  {
    id: "resources.memory.cell",
    title: "a cell that wants more memory than the cap fails, and the next one works",
    needs: ["resources.memory", "kernel.python"],
    limitMs: 60_000,
    async run({ sandbox }) {
      const own = await sandbox({ resources: { memoryMiB: 256 } });
      const cell = await own.runCode("x = bytearray(1024 * 1024 * 1024)", { timeoutMs: 30_000 });
      assert.equal(cell.ok, false);
      assert.ok(cell.reason === "oom" || cell.error?.name === "MemoryError", `it ended as ${cell.reason}`);
      assert.equal((await own.runCode("1 + 1")).value, 2);
    },
  },
  {
    id: "resources.pids",
    title: "a program that starts more processes than the cap cannot, and the sandbox goes on",
    needs: ["resources.pids", "exec.argv", "exec.killTree"],
    programs: ["crowd", "exit"],
    async run({ sandbox, program }) {
      const own = await sandbox({ resources: { pids: 64 } });
      const result = await own.exec(program("crowd", "500"), { timeoutMs: 10_000 });
      assert.equal(result.ok, false);
      await worksOrIsLost(own, program("exit", "0"));
    },
  },
  {
    id: "resources.disk",
    title: "a file beyond the cap is NO_SPACE, and what was there stays",
    needs: ["resources.disk", "files"],
    async run({ sandbox }) {
      const own = await sandbox({ resources: { diskMiB: 16 } });
      await own.files.write("kept", "kept");
      await rejects(own.files.write("big", new Uint8Array(64 * 1024 * 1024)), "NO_SPACE", "big");
      assert.equal(await own.files.readText("kept"), "kept");
      await own.files.write("small", "fits");
    },
  },
];
