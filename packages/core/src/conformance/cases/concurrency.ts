import { strict as assert } from "node:assert";
import { equalBytes } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { pattern, splitNul } from "../material.js";

/** Many things at once, each with its own. */
export const concurrencyCases: readonly ConformanceCase[] = [
  {
    id: "concurrency.exec.50",
    title: "50 commands at once each get their own input, environment, output and exit code",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy", "env", "exit"],
    reports: ["bytedance/deer-flow#1433", "docker/docker-py#3409"],
    limitMs: 120_000,
    async run({ shared, program }) {
      const runs = Array.from({ length: 50 }, async (_, number) => {
        if (number % 3 === 0) {
          const stdin = pattern(20_000, number + 1);
          equalBytes((await shared.exec(program("copy"), { stdin })).orThrow().stdout.bytes, stdin, `run ${number}`);
        } else if (number % 3 === 1) {
          const { stdout } = await shared.exec(program("env", "MINE"), { env: { MINE: `number ${number}` } });
          assert.deepEqual(splitNul(stdout.bytes), [`=number ${number}`]);
        } else {
          assert.equal((await shared.exec(program("exit", String(number)))).exitCode, number);
        }
      });
      await Promise.all(runs);
    },
  },
  {
    id: "concurrency.exec.not-held-up",
    title: "a slow command does not hold up others",
    needs: ["exec.argv", "process.background", "files"],
    programs: ["await", "exit"],
    async run({ shared, program, path }) {
      const slow = shared.exec(program("await", path("go")), { timeoutMs: 25_000 });
      for (let round = 0; round < 3; round++) assert.equal((await shared.exec(program("exit", "0"))).ok, true);
      await shared.files.write(path("go"), "");
      assert.equal((await slow).reason, "exited");
    },
  },
  {
    id: "concurrency.exec.floods",
    title: "commands that flood at the same time do not mix their output",
    needs: ["exec.argv", "exec.stream"],
    programs: ["flood"],
    async run({ shared, program }) {
      const runs = Array.from({ length: 5 }, async (_, number) => {
        const blocks = 16 + number;
        const { stdout } = await shared.exec(program("flood", String(blocks)), { maxOutputBytes: 100 });
        const kept = Buffer.from(stdout.bytes).toString();
        assert.equal(stdout.totalBytes, blocks * 65_536 + 8);
        assert.match(kept, /^HEADx+TAIL$/);
      });
      await Promise.all(runs);
    },
  },
  {
    id: "concurrency.files.20",
    title: "20 files written and read at once keep their own content",
    needs: ["files"],
    async run({ shared, path }) {
      const runs = Array.from({ length: 20 }, async (_, number) => {
        const bytes = pattern(100_000 + number, number + 1);
        await shared.files.write(path(`file-${number}`), bytes);
        equalBytes(await shared.files.read(path(`file-${number}`)), bytes, `file ${number}`);
      });
      await Promise.all(runs);
    },
  },
  {
    id: "concurrency.files.one-directory",
    title: "many writers make the same directories at once",
    needs: ["files"],
    async run({ shared, path }) {
      const runs = Array.from({ length: 20 }, (_, number) =>
        shared.files.write(path(`new/way/${number}`), `${number}`),
      );
      await Promise.all(runs);
      assert.equal((await shared.files.list(path("new/way"))).length, 20);
    },
  },
  {
    id: "concurrency.files.exclusive",
    title: "of several exclusive writers exactly one wins",
    needs: ["files"],
    async run({ shared, path }) {
      const runs = Array.from({ length: 8 }, (_, number) =>
        shared.files.write(path("lock"), `${number}`, { mode: "exclusive" }).then(() => number),
      );
      const results = await Promise.allSettled(runs);
      const winners = results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
      assert.equal(winners.length, 1);
      assert.equal(await shared.files.readText(path("lock")), `${winners[0]}`);
    },
  },
  {
    id: "concurrency.sandboxes",
    title: "sandboxes made at once are different ones and keep their own files",
    needs: ["files"],
    async run({ sandbox }) {
      const made = await Promise.all([sandbox(), sandbox(), sandbox()]);
      assert.equal(new Set(made.map(({ ref }) => ref.id)).size, 3);
      await Promise.all(made.map((each, number) => each.files.write("mine", `${number}`)));
      const read = await Promise.all(made.map((each) => each.files.readText("mine")));
      assert.deepEqual(read, ["0", "1", "2"]);
    },
  },
];
