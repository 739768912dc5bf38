import { strict as assert } from "node:assert";
import { failure, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { beats, goesOn, silent } from "../heartbeat.js";

/** What a deadline means for the result, and for everything else in the sandbox. */
export const deadlineCases: readonly ConformanceCase[] = [
  {
    id: "kill.timeout.result",
    title: "a timeout is a result with its reason, without an exit code",
    needs: ["exec.argv"],
    programs: ["say"],
    reports: ["superradcompany/microsandbox#468", "mastra-ai/mastra#23773", "computesdk/computesdk#660"],
    async run({ shared, program }) {
      const result = await within(20_000, "exec", shared.exec(program("say", "60", "words"), { timeoutMs: 500 }));
      assert.deepEqual([result.reason, result.exitCode, result.ok], ["timeout", null, false]);
    },
  },
  {
    id: "kill.timeout.partial-output",
    title: "what was written before a timeout is kept",
    needs: ["exec.argv"],
    programs: ["say"],
    reports: ["SWE-agent/SWE-ReX#29", "daytonaio/daytona#5144"],
    async run({ shared, program }) {
      // On a busy machine the program may not even have started at the first deadline.
      for (const timeoutMs of [600, 2_000, 6_000]) {
        const result = await shared.exec(program("say", "60", "so far"), { timeoutMs });
        assert.equal(result.reason, "timeout");
        if (result.stdout.text === "" && timeoutMs < 6_000) continue;
        assert.deepEqual([result.stdout.text, result.stdout.totalBytes], ["so far", 6]);
        return;
      }
    },
  },
  {
    id: "kill.timeout.at-the-deadline",
    title: "a timeout strikes at the deadline, long before the command would have ended",
    needs: ["exec.argv"],
    programs: ["sleep"],
    reports: ["daytonaio/daytona#2602", "superradcompany/microsandbox#494", "LibreChat-AI/agents#251"],
    async run({ shared, program }) {
      const result = await within(8_000, "exec", shared.exec(program("sleep", "60"), { timeoutMs: 400 }));
      assert.ok(result.durationMs >= 390, `it ended after ${result.durationMs} ms`);
    },
  },
  {
    id: "kill.timeout.milliseconds",
    title: "a timeout is in milliseconds: a command well below it ends by itself",
    needs: ["exec.argv"],
    programs: ["sleep"],
    reports: ["computesdk/computesdk#682"],
    async run({ shared, program }) {
      const result = await shared.exec(program("sleep", "0.2"), { timeoutMs: 20_000 });
      assert.deepEqual([result.reason, result.exitCode], ["exited", 0]);
    },
  },
  {
    id: "kill.timeout.stalled-stream",
    title: "a timeout strikes though the listener does not take the output",
    needs: ["exec.argv", "exec.stream"],
    programs: ["flood"],
    reports: ["vercel/eve#440", "cloudflare/sandbox-sdk#101"],
    async run({ shared, program }) {
      let release = () => {};
      const stalled = new Promise<void>((resolve) => {
        release = resolve;
      });
      const run = shared.exec(program("flood", "100000"), { timeoutMs: 500, onOutput: () => stalled });
      setTimeout(release, 1_500);
      assert.equal((await within(15_000, "exec", run)).reason, "timeout");
    },
  },
  {
    id: "kill.timeout.stdin-open",
    title: "a timeout strikes while input is still coming",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    async run({ shared, program }) {
      const stdin = new ReadableStream<Uint8Array>({ pull: () => new Promise<void>(() => undefined) });
      const result = await within(15_000, "exec", shared.exec(program("copy"), { stdin, timeoutMs: 500 }));
      assert.equal(result.reason, "timeout");
    },
  },
  {
    id: "kill.timeout.stopped",
    title: "a program that has stopped itself is ended all the same",
    needs: ["exec.argv", "exec.killTree"],
    programs: ["stopped"],
    async run({ shared, program }) {
      const result = await within(15_000, "exec", shared.exec(program("stopped"), { timeoutMs: 700 }));
      assert.equal(result.reason, "timeout");
    },
  },
  {
    id: "kill.grace.clean-up",
    title: "SIGTERM comes first: a program has time to clean up, and the timeout stays the reason",
    needs: ["exec.argv", "exec.killTree", "files"],
    programs: ["clean-up"],
    async run({ shared, program, path }) {
      for (const timeoutMs of [600, 2_000, 6_000]) {
        const file = path(`cleaned-${timeoutMs}`);
        const result = await shared.exec(program("clean-up", file), { timeoutMs, killGraceMs: 5_000 });
        assert.deepEqual([result.reason, result.exitCode], ["timeout", null]);
        if (result.stdout.text === "" && timeoutMs < 6_000) continue;
        assert.equal(await shared.files.readText(file), "cleaned");
        return;
      }
    },
  },
  {
    id: "kill.grace.then-sigkill",
    title: "what still lives after killGraceMs gets SIGKILL",
    needs: ["exec.argv", "exec.killTree", "files"],
    programs: ["ignore-term"],
    async run({ shared, program, path }) {
      const stop = new AbortController();
      const started = performance.now();
      let aborted = started;
      const run = shared.exec(program("ignore-term", path("beat")), { signal: stop.signal, killGraceMs: 1_200 });
      await beats(shared, path("beat")).finally(() => {
        aborted = performance.now();
        stop.abort();
      });
      const result = await within(15_000, "exec", run);
      const graceMs = performance.now() - aborted;
      assert.ok(graceMs >= 1_150, `it was killed after ${Math.round(graceMs)} ms of a grace of 1200`);
      assert.equal(result.reason, "aborted");
      await silent(shared, path("beat"));
    },
  },
  {
    id: "kill.abort.before-start",
    title: "with a signal that is aborted already nothing runs, and the result is aborted",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ shared, program, path }) {
      const result = await shared.exec(program("write", path("ran"), "yes"), { signal: AbortSignal.abort() });
      assert.deepEqual([result.reason, result.exitCode, result.stdout.totalBytes], ["aborted", null, 0]);
      assert.equal(await shared.files.exists(path("ran")), false);
    },
  },
  {
    id: "kill.abort.after-end",
    title: "an abort after the end changes nothing",
    needs: ["exec.argv"],
    programs: ["exit"],
    async run({ shared, program }) {
      const stop = new AbortController();
      const result = await shared.exec(program("exit", "0"), { signal: stop.signal });
      stop.abort();
      assert.equal(result.reason, "exited");
      assert.equal((await shared.exec(program("exit", "0"))).ok, true);
    },
  },
  {
    id: "kill.siblings",
    title: "a timeout leaves other commands of the sandbox alone",
    needs: ["exec.argv", "exec.killTree", "process.background", "files"],
    programs: ["heartbeat", "sleep"],
    reports: ["microsoft/agent-governance-toolkit#1954"],
    async run({ shared, program, path }) {
      const sibling = await shared.spawn(program("heartbeat", path("sibling")));
      try {
        await beats(shared, path("sibling"));
        const result = await shared.exec(program("sleep", "60"), { timeoutMs: 300 });
        assert.equal(result.reason, "timeout");
        await goesOn(shared, path("sibling"));
      } finally {
        await sibling.kill();
      }
    },
  },
  {
    id: "kill.files-stay",
    title: "the sandbox and its files outlive a timeout",
    needs: ["exec.argv", "files"],
    programs: ["sleep", "read"],
    reports: ["microsoft/agent-governance-toolkit#1954"],
    async run({ shared, program, path }) {
      await shared.files.write(path("kept"), "kept");
      assert.equal((await shared.exec(program("sleep", "60"), { timeoutMs: 300 })).reason, "timeout");
      assert.equal((await shared.exec(program("read", path("kept")))).stdout.text, "kept");
    },
  },
  {
    id: "kill.again-and-again",
    title: "twenty timeouts in parallel leave a sandbox that works",
    needs: ["exec.argv", "exec.killTree"],
    programs: ["sleep", "exit"],
    reports: ["openclaw/openclaw#110735", "mastra-ai/mastra#23773"],
    limitMs: 60_000,
    async run({ shared, program }) {
      const command = program("sleep", "60");
      const results = await Promise.all(Array.from({ length: 20 }, () => shared.exec(command, { timeoutMs: 300 })));
      assert.deepEqual([...new Set(results.map(({ reason }) => reason))], ["timeout"]);
      assert.equal((await shared.exec(program("exit", "0"))).ok, true);
    },
  },
  {
    id: "kill.other-calls-reject",
    title: "an aborted call that runs no command rejects with the reason of the signal",
    needs: ["files"],
    async run({ shared, path }) {
      const reason = new Error("no longer wanted");
      const signal = AbortSignal.abort(reason);
      assert.equal(await failure(shared.files.write(path("file"), "data", { signal })), reason);
      await shared.files.write(path("file"), "data");
      assert.equal(await failure(shared.files.read(path("file"), { signal })), reason);
    },
  },
];
