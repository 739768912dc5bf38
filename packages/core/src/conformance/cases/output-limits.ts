import { strict as assert } from "node:assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ConformanceCase } from "../conformance-case.js";
import { beats, silent } from "../heartbeat.js";
import { octal } from "../programs.js";

const block = 65_536;

let collectGarbage: (() => void) | undefined;

/** In bytes. What nobody holds any more says nothing of who kept it: a vendor's SDK may leave much of that lying. */
function memoryInUse(): number {
  setFlagsFromString("--expose-gc");
  collectGarbage ??= runInNewContext("gc") as () => void;
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** Output never floods the caller. */
export const outputLimitCases: readonly ConformanceCase[] = [
  {
    id: "output.limit.head-and-tail",
    title: "of more output than the limit head and tail are kept, and all of it is counted",
    needs: ["exec.argv"],
    programs: ["flood"],
    reports: ["UKGovernmentBEIS/inspect_ai#781", "daytonaio/daytona#5144"],
    async run({ shared, program }) {
      const { stdout, exitCode } = await shared.exec(program("flood", "4"), { maxOutputBytes: 1000 });
      assert.equal(exitCode, 0);
      assert.deepEqual([stdout.totalBytes, stdout.truncated, stdout.bytes.length], [4 * block + 8, true, 1000]);
      const kept = Buffer.from(stdout.bytes).toString();
      assert.ok(kept.startsWith("HEADx") && kept.endsWith("xTAIL"), "head or tail is missing");
    },
  },
  {
    id: "output.limit.text-says-so",
    title: "the text of truncated output says how many bytes are left out",
    needs: ["exec.argv"],
    programs: ["flood"],
    async run({ shared, program }) {
      const { stdout } = await shared.exec(program("flood", "1"), { maxOutputBytes: 1000 });
      assert.ok(stdout.text.includes(String(block + 8 - 1000)), "the number of bytes left out is not in the text");
      assert.ok(stdout.text.startsWith("HEAD") && stdout.text.endsWith("TAIL"));
    },
  },
  {
    id: "output.limit.exact-fit",
    title: "output of exactly the limit is complete",
    needs: ["exec.argv"],
    programs: ["bytes"],
    async run({ shared, program }) {
      const whole = await shared.exec(program("bytes", octal(Buffer.from("0123456789"))), { maxOutputBytes: 10 });
      assert.deepEqual([whole.stdout.text, whole.stdout.truncated], ["0123456789", false]);
      const cut = await shared.exec(program("bytes", octal(Buffer.from("0123456789"))), { maxOutputBytes: 9 });
      assert.deepEqual([cut.stdout.truncated, cut.stdout.totalBytes], [true, 10]);
    },
  },
  {
    id: "output.limit.zero",
    title: "a limit of 0 keeps nothing and counts everything",
    needs: ["exec.argv"],
    programs: ["bytes"],
    async run({ shared, program }) {
      const { stdout } = await shared.exec(program("bytes", octal(Buffer.from("words"))), { maxOutputBytes: 0 });
      assert.deepEqual([stdout.bytes.length, stdout.totalBytes, stdout.truncated], [0, 5, true]);
    },
  },
  {
    id: "output.limit.characters-whole",
    title: "the text of truncated output has no broken characters",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    async run({ shared, program }) {
      for (const maxOutputBytes of [101, 103]) {
        const { stdout } = await shared.exec(program("copy"), { stdin: "🎈".repeat(1000), maxOutputBytes });
        assert.ok(stdout.truncated && !stdout.text.includes("\ufffd"), stdout.text);
      }
    },
  },
  {
    id: "output.limit.per-stream",
    title: "each stream has the limit for itself",
    needs: ["exec.argv", "exec.stderr"],
    programs: ["both"],
    reports: ["UKGovernmentBEIS/inspect_ai#781"],
    async run({ shared, program }) {
      const { stdout, stderr } = await shared.exec(program("both", "500"), { maxOutputBytes: 64 });
      assert.deepEqual([stdout.bytes.length, stderr.bytes.length], [64, 64]);
      assert.ok(stdout.text.startsWith("o0 ") && stderr.text.startsWith("e0 "));
    },
  },
  {
    id: "output.limit.default",
    title: "without a limit of the caller's 1 MiB of each stream is kept",
    needs: ["exec.argv"],
    programs: ["flood"],
    async run({ shared, program }) {
      const { stdout } = await shared.exec(program("flood", "32"));
      assert.deepEqual([stdout.bytes.length, stdout.truncated], [1024 * 1024, true]);
    },
  },
  {
    id: "output.limit.truncate-goes-on",
    title: "a command goes on after its output limit",
    needs: ["exec.argv", "files"],
    programs: ["flood"],
    async run({ shared, program, path }) {
      const progress = path("progress");
      const run = program("flood", "16", progress);
      (await shared.exec(run, { maxOutputBytes: 10, onLimit: "truncate" })).orThrow();
      assert.equal((await shared.files.stat(progress)).size, 16);
    },
  },
  {
    id: "output.limit.kill",
    title: "with onLimit kill a command that writes too much is ended, with what it wrote so far",
    needs: ["exec.argv"],
    programs: ["flood"],
    async run({ shared, program }) {
      const result = await shared.exec(program("flood", "1000000"), { maxOutputBytes: block, onLimit: "kill" });
      assert.deepEqual([result.reason, result.exitCode, result.ok], ["output_limit", null, false]);
      assert.equal(result.stdout.truncated, true);
      assert.ok(result.stdout.text.startsWith("HEAD"));
    },
  },
  {
    id: "output.limit.kill.tree",
    title: "with onLimit kill the whole tree is dead",
    needs: ["exec", "exec.killTree", "files"],
    programs: ["heartbeat"],
    traits: ["sh", "fork"],
    async run({ shared, path }) {
      const file = path("beat");
      const tree = `(while :; do printf . >>'${file}'; sleep 0.05; done) & while [ ! -s '${file}' ]; do sleep 0.05; done; while :; do echo overflowing; done`;
      const run = shared.exec(tree, { maxOutputBytes: 1000, onLimit: "kill" });
      await Promise.race([beats(shared, file).catch(() => undefined), run]);
      assert.equal((await run).reason, "output_limit");
      await silent(shared, file);
    },
  },
  {
    id: "output.limit.kill.not-reached",
    title: "with onLimit kill output of exactly the limit is no reason to end a command",
    needs: ["exec.argv"],
    programs: ["bytes"],
    async run({ shared, program }) {
      const command = program("bytes", octal(Buffer.from("0123456789")));
      const result = await shared.exec(command, { maxOutputBytes: 10, onLimit: "kill" });
      assert.deepEqual([result.reason, result.stdout.text], ["exited", "0123456789"]);
    },
  },
  {
    id: "output.limit.memory",
    title: "96 MB of output cost the caller no more memory than the limit asks for",
    needs: ["exec.argv"],
    programs: ["flood"],
    limitMs: 60_000,
    async run({ shared, program }) {
      const before = memoryInUse();
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, memoryInUse());
      }, 250);
      try {
        const { stdout } = (await shared.exec(program("flood", "1536"))).orThrow();
        assert.equal(stdout.totalBytes, 1536 * block + 8);
        const grown = Math.round((Math.max(peak, memoryInUse()) - before) / 1024 / 1024);
        assert.ok(grown < 64, `memory grew by ${grown} MB`);
      } finally {
        clearInterval(watch);
      }
    },
  },
];
