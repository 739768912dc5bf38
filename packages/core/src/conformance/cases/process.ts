import { strict as assert } from "node:assert";
import { equalBytes, eventually, failure, rejects, within } from "../assertions.js";
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
    id: "process.captured",
    title: "captured shows the output so far and takes nothing from a reader",
    needs: ["exec.argv", "exec.stream", "process.background", "files"],
    programs: ["await"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("await", path("go")));
      await eventually("output so far", () => process.captured().stdout.text === "ready");
      await shared.files.write(path("go"), "");
      assert.equal(await textOf(process.stdout), "readydone");
      assert.equal((await process.wait()).stdout.text, "readydone");
    },
  },
  {
    id: "process.captured.after-destroy",
    title: "what a process wrote can be read after its sandbox is gone",
    needs: ["exec.argv", "exec.stream", "process.background"],
    programs: ["both"],
    reports: ["vercel/sandbox#338"],
    async run({ sandbox, program }) {
      const own = await sandbox();
      const process = await own.spawn(program("both", "3"));
      await process.wait();
      await own.destroy();
      assert.equal(process.captured().stdout.text, "o0 o1 o2 ");
      assert.equal(await textOf(process.stdout), "o0 o1 o2 ");
    },
  },
  {
    id: "process.iterate.replay",
    title: "who begins to iterate late gets everything from the start",
    needs: ["exec.argv", "exec.stream", "process.background"],
    programs: ["bytes", "both"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("both", "100"));
      const { stdout, stderr } = await process.wait();
      assert.equal(await textOf(process.stdout), stdout.text);
      assert.equal(await textOf(process.stderr), stderr.text);
    },
  },
  {
    id: "process.iterate.output",
    title: "output gives both streams, tagged",
    needs: ["exec.argv", "exec.stream", "exec.stderr", "process.background"],
    programs: ["both"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("both", "100"));
      const seen = { stdout: "", stderr: "" };
      for await (const { stream, text } of process.output) seen[stream] += text;
      const { stdout, stderr } = await process.wait();
      assert.deepEqual(seen, { stdout: stdout.text, stderr: stderr.text });
    },
  },
  {
    id: "process.iterate.back-pressure",
    title: "a slow consumer holds the program up, and gets every byte",
    needs: ["exec.argv", "exec.stream", "process.background", "files"],
    programs: ["flood"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("flood", "512", path("progress")));
      const output = process.stdout[Symbol.asyncIterator]();
      let total = (await output.next()).value?.length ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 700));
      const { size } = await shared.files.stat(path("progress"));
      assert.ok(size < 384, `${size} of 512 blocks of 64 KiB were written though nobody took them`);
      for (;;) {
        const { done, value } = await output.next();
        if (done) break;
        total += value.length;
      }
      assert.equal(total, 512 * 65_536 + 8);
      assert.equal((await process.wait()).exitCode, 0);
    },
  },
  {
    id: "process.iterate.stops",
    title: "a consumer that stops lets the program go on, and late output harms nobody",
    needs: ["exec.argv", "exec.stream", "process.background"],
    programs: ["flood"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("flood", "128"));
      for await (const piece of process.stdout) if (piece.length > 0) break;
      const result = await within(15_000, "wait", process.wait());
      assert.equal(result.orThrow().stdout.totalBytes, 128 * 65_536 + 8);
    },
  },
  {
    id: "process.iterate.one-consumer",
    title: "a second consumer at the same time is refused",
    needs: ["exec.argv", "exec.stream", "process.background", "files"],
    programs: ["await"],
    async run({ shared, program, path }) {
      const process = await shared.spawn(program("await", path("go")));
      const first = process.stdout[Symbol.asyncIterator]();
      await first.next();
      await rejects(textOf(process.stdout), "INVALID", "stdout");
      await rejects(textOf(process.stdout), "INVALID", "stdout");
      await first.return?.();
      await shared.files.write(path("go"), "");
      await process.wait();
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

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
