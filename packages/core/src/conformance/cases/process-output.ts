import { strict as assert } from "node:assert";
import { eventually, rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** What a process writes, read through its handle. */
export const processOutputCases: readonly ConformanceCase[] = [
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
];

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
