import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import type { ApprovalRequest } from "../../options.js";
import { rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Nothing runs that a person has not seen. */
export const approvalCases: readonly ConformanceCase[] = [
  {
    id: "approve.exec",
    title: "approve is asked with the exact command before each run",
    needs: ["exec.argv"],
    programs: ["exit"],
    async run({ sandbox, program, capabilities }) {
      const asked: ApprovalRequest[] = [];
      const own = await sandbox({
        approve: (request) => {
          asked.push(request);
          return true;
        },
      });
      const argv = program("exit", "0");
      assert.equal((await own.exec(argv)).ok, true);
      assert.deepEqual(asked, [{ kind: "exec", code: argv.join(" "), argv }]);
      await own.exec(argv, { env: { X: "1" }, cwd: "/tmp/../tmp" });
      assert.deepEqual(asked[1], { kind: "exec", code: argv.join(" "), argv, env: { X: "1" }, cwd: "/tmp" });
      if (!capabilities.features.exec) return;
      await own.exec("exit  '0'");
      assert.deepEqual(asked.slice(2), [{ kind: "exec", code: "exit  '0'" }]);
    },
  },
  {
    id: "approve.exec.denied",
    title: "what is not approved is DENIED and does not run",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ sandbox, program }) {
      const own = await sandbox({ approve: () => false });
      await rejects(own.exec(program("write", "ran", "yes")), "DENIED");
      assert.equal(await own.files.exists("ran"), false);
    },
  },
  {
    id: "approve.spawn.denied",
    title: "a process that is not approved is DENIED and does not run",
    needs: ["exec.argv", "process.background", "files"],
    programs: ["write"],
    async run({ sandbox, program }) {
      const own = await sandbox({ approve: async () => false });
      await rejects(own.spawn(program("write", "ran", "yes")), "DENIED");
      assert.equal(await own.files.exists("ran"), false);
    },
  },
  {
    id: "approve.exec.throws",
    title: "an approval that fails is a refusal, with its cause",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ sandbox, program }) {
      const cause = new Error("nobody answers");
      const own = await sandbox({
        approve: () => {
          throw cause;
        },
      });
      const error = await rejects(own.exec(program("write", "ran", "yes")), "DENIED", "nobody answers");
      assert.equal(error.cause, cause);
      assert.equal(await own.files.exists("ran"), false);
    },
  },
  {
    id: "approve.clock",
    title: "the clock of a run stands still while approval is asked for",
    needs: ["exec.argv"],
    programs: ["exit"],
    async run({ sandbox, program }) {
      const own = await sandbox({ approve: () => pause(1_700).then(() => true) });
      const result = await own.exec(program("exit", "0"), { timeoutMs: 1_500 });
      assert.deepEqual([result.reason, result.exitCode], ["exited", 0]);
    },
  },
  {
    id: "approve.aborted",
    title: "a run that is aborted while approval is asked for never starts",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ sandbox, program }) {
      const own = await sandbox({ approve: () => pause(500).then(() => true) });
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 100);
      const run = own.exec(program("write", "ran", "yes"), { signal: stop.signal });
      assert.equal((await within(10_000, "exec", run)).reason, "aborted");
      await pause(700);
      assert.equal(await own.files.exists("ran"), false);
    },
  },
  {
    id: "approve.code",
    title: "approve is asked with the exact code of each cell, and a refused cell does not run",
    needs: ["kernel.python", "files"],
    async run({ sandbox }) {
      const asked: ApprovalRequest[] = [];
      const own = await sandbox({
        approve: (request) => {
          asked.push(request);
          return !request.code.includes("write");
        },
      });
      assert.equal((await own.runCode("1 +\\\n 1")).value, 2);
      await rejects(own.runCode("open('ran', 'w').write('yes')"), "DENIED");
      assert.deepEqual(asked, [
        { kind: "code", code: "1 +\\\n 1", language: "python" },
        { kind: "code", code: "open('ran', 'w').write('yes')", language: "python" },
      ]);
      assert.equal(await own.files.exists("ran"), false);
    },
  },
];
