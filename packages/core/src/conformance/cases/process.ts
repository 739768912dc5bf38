import { strict as assert } from "node:assert";
import { equalBytes, eventually, failure, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { beats, goesOn, silent } from "../heartbeat.js";
import { allBytes } from "../material.js";

/** Handles on running programs. */
export const processCases: readonly ConformanceCase[] = [
  {
    id: "process.dialogue",
    title: "input and output go back and forth while a process runs",
    needs: ["exec.argv", "exec.stdin", "exec.stream", "process.background"],
    programs: ["lines"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("lines"));
      const output = process.stdout[Symbol.asyncIterator]();
      let seen = "";
      for (const word of ["one", "two"]) {
        await process.write(`${word}\n`);
        while (!seen.endsWith(`got ${word}\n`)) {
          const { done, value } = await output.next();
          assert.ok(!done, `the output ended after ${JSON.stringify(seen)}`);
          seen += Buffer.from(value).toString();
        }
      }
      await process.closeStdin();
      const result = await within(10_000, "wait", process.wait());
      assert.equal(result.orThrow().stdout.text, "got one\ngot two\nend\n");
    },
  },
  {
    id: "process.stdin.bytes",
    title: "written bytes arrive exactly and in order",
    needs: ["exec.argv", "exec.stdin", "process.background"],
    programs: ["copy"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("copy"));
      for (let part = 0; part < 4; part++) await process.write(allBytes.subarray(part * 256, (part + 1) * 256));
      await process.closeStdin();
      await process.closeStdin();
      equalBytes((await within(10_000, "wait", process.wait())).stdout.bytes, allBytes);
    },
  },
  {
    id: "process.stdin.option",
    title: "a process started with stdin reads that and then end of file",
    needs: ["exec.argv", "exec.stdin", "process.background"],
    programs: ["copy"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("copy"), { stdin: "given" });
      assert.equal((await within(10_000, "wait", process.wait())).stdout.text, "given");
    },
  },
  {
    id: "process.write.after-end",
    title: "writing to a process that has ended does nothing",
    needs: ["exec.argv", "exec.stdin", "process.background"],
    programs: ["exit"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("exit", "0"));
      await process.wait();
      await within(5_000, "write", process.write("nobody reads this"));
      await process.closeStdin();
    },
  },
  {
    id: "process.wait",
    title: "wait gives one and the same result to everyone who asks",
    needs: ["exec.argv", "process.background"],
    programs: ["exit"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("exit", "4"));
      const [first, second] = await Promise.all([process.wait(), process.wait()]);
      assert.equal(first, second);
      assert.equal(await process.wait(), first);
      assert.deepEqual([first.reason, first.exitCode], ["exited", 4]);
    },
  },
  {
    id: "process.wait.given-up",
    title: "giving up to wait rejects with the reason and lets the program run",
    needs: ["exec.argv", "process.background", "files"],
    programs: ["heartbeat"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("heartbeat", path("beat")));
      const reason = new Error("waited long enough");
      const stop = new AbortController();
      setTimeout(() => stop.abort(reason), 100);
      assert.equal(await failure(process.wait({ signal: stop.signal })), reason);
      await beats(shared, path("beat"));
      await process.kill();
    },
  },
  {
    id: "process.kill.named-signal",
    title: "a named signal is delivered, and what the program makes of it is its own",
    needs: ["exec.argv", "exec.killTree", "process.background", "files"],
    programs: ["clean-up"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("clean-up", path("cleaned")));
      await eventually("the program", () => process.captured().stdout.text === "ready");
      await process.kill("SIGTERM");
      const result = await within(10_000, "wait", process.wait());
      assert.deepEqual([result.reason, result.exitCode], ["exited", 7]);
      assert.equal(await shared.files.readText(path("cleaned")), "cleaned");
    },
  },
  {
    id: "process.kill.after-end",
    title: "killing what has ended, or twice, is no error",
    needs: ["exec.argv", "exec.killTree", "process.background"],
    programs: ["exit", "sleep"],
    async run({ shared, program }) {
      const ended = await shared.spawn(program("exit", "0"));
      await ended.wait();
      await ended.kill();
      await ended.kill("SIGTERM");
      const living = await shared.spawn(program("sleep", "60"));
      await Promise.all([living.kill(), living.kill()]);
      await living.kill();
      assert.equal((await living.wait()).reason, "signaled");
    },
  },
  {
    id: "process.kill.orphans",
    title: "kill() also ends what a process that has ended left behind",
    needs: ["exec.argv", "exec.killTree", "process.background", "files"],
    programs: ["holder"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("holder", path("beat")));
      assert.equal((await within(10_000, "wait", process.wait())).exitCode, 3);
      await goesOn(shared, path("beat"));
      await process.kill();
      await silent(shared, path("beat"));
    },
  },
  {
    id: "process.dispose",
    title: "disposing a process ends it",
    needs: ["exec.argv", "exec.killTree", "process.background", "files"],
    programs: ["child"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("child", path("beat")));
      await beats(shared, path("beat"));
      await process[Symbol.asyncDispose]();
      await silent(shared, path("beat"));
    },
  },
  {
    id: "process.timeout",
    title: "a process started with a timeout is ended by it",
    needs: ["exec.argv", "exec.killTree", "process.background"],
    programs: ["sleep"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("sleep", "60"), { timeoutMs: 300 });
      assert.equal((await within(10_000, "wait", process.wait())).reason, "timeout");
    },
  },
  {
    id: "process.list",
    title: "processes() lists what runs, process() finds it by id and nothing else",
    needs: ["exec.argv", "process.background"],
    programs: ["sleep"],
    async run({ shared, program }) {
      const command = program("sleep", "60");
      const process = await shared.spawn(command);
      const entry = (await shared.processes()).find(({ id }) => id === process.id);
      assert.deepEqual([entry?.pid, entry?.running, entry?.command], [process.pid, true, command]);
      assert.equal((await shared.process(process.id))?.id, process.id);
      assert.equal(await shared.process("no-such-process"), null);
      await process.kill();
      await process.wait();
      const after = (await shared.processes()).find(({ id }) => id === process.id);
      assert.notEqual(after?.running, true);
    },
  },
  {
    id: "process.pid",
    title: "the pid is the number that the program has for itself",
    needs: ["exec.argv", "process.background"],
    programs: ["pid"],
    reports: ["mastra-ai/mastra#23773"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("pid"));
      assert.equal((await process.wait()).stdout.text.trim(), String(process.pid));
    },
  },
];
