import { strict as assert } from "node:assert";
import { failure, rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { awkwardValues, splitNul } from "../material.js";
import { octal } from "../programs.js";

const text = (value: string) => octal(Buffer.from(value));

/** How a command is run and what its result says. */
export const execCases: readonly ConformanceCase[] = [
  {
    id: "exec.argv.as-data",
    title: "arguments arrive exactly, whatever they contain",
    needs: ["exec.argv"],
    programs: ["argv"],
    reports: ["langchain-ai/deepagents#1483", "railwayapp/railway-ts-sdk#26"],
    async run({ shared, program }) {
      const result = await shared.exec(program("argv", ...awkwardValues, ""));
      assert.deepEqual(splitNul(result.orThrow().stdout.bytes), [...awkwardValues, ""]);
    },
  },
  {
    id: "exec.argv.large",
    title: "an argument of 100 KB arrives whole",
    needs: ["exec.argv"],
    programs: ["argv"],
    async run({ shared, program }) {
      const long = "0123456789".repeat(10_000);
      const result = await shared.exec(program("argv", long));
      assert.deepEqual(splitNul(result.orThrow().stdout.bytes), [long]);
    },
  },
  {
    id: "exec.string.shell",
    title: "a command string is run by a shell",
    needs: ["exec"],
    async run({ shared }) {
      const result = await shared.exec('greeting=hello; echo "$greeting" | cat; exit 3');
      assert.equal(result.stdout.text, "hello\n");
      assert.equal(result.exitCode, 3);
    },
  },
  {
    id: "exec.string.apart",
    title: "what one command string changes in its shell does not reach the next",
    needs: ["exec"],
    reports: ["cloudflare/sandbox-sdk#694", "cloudflare/sandbox-sdk#16"],
    async run({ shared }) {
      (await shared.exec("cd / && export LEAKED=yes && umask 077")).orThrow();
      const result = await shared.exec('printf "%s [%s]" "$PWD" "$LEAKED"');
      assert.equal(result.stdout.text, `${shared.workdir} []`);
    },
  },
  {
    id: "exec.exit-code",
    title: "the exit code is the program's own",
    needs: ["exec.argv"],
    programs: ["exit"],
    reports: ["cloudflare/sandbox-sdk#873"],
    async run({ shared, program }) {
      for (const code of [0, 3, 255]) {
        const result = await shared.exec(program("exit", String(code)));
        assert.equal(result.exitCode, code);
        assert.equal(result.reason, "exited");
        assert.equal(result.ok, code === 0);
        assert.equal(result.signal, undefined);
      }
    },
  },
  {
    id: "exec.exit-code.with-listener",
    title: "the exit code is the program's own when its output is streamed",
    needs: ["exec.argv", "exec.stream"],
    programs: ["exit"],
    reports: ["vndee/llm-sandbox#14", "vndee/llm-sandbox#15"],
    async run({ shared, program }) {
      const result = await shared.exec(program("exit", "3"), { onOutput: () => undefined });
      assert.equal(result.exitCode, 3);
      assert.equal(result.ok, false);
    },
  },
  {
    id: "exec.exit-code.lookalikes",
    title: "exit codes that others give a meaning to are exits like any other",
    needs: ["exec.argv"],
    programs: ["exit"],
    reports: ["superradcompany/microsandbox#468"],
    async run({ shared, program }) {
      for (const code of [124, 127, 137]) {
        const result = await shared.exec(program("exit", String(code)), { timeoutMs: 20_000 });
        assert.deepEqual([result.reason, result.exitCode], ["exited", code]);
      }
    },
  },
  {
    id: "exec.missing-program",
    title: "a program that does not exist is a result with exit code 127 that names it",
    needs: ["exec.argv"],
    async run({ shared }) {
      const result = await shared.exec(["no-such-program-anywhere", "argument"]);
      assert.deepEqual([result.reason, result.exitCode], ["exited", 127]);
      assert.ok(result.stderr.text.includes("no-such-program-anywhere"), `stderr says: ${result.stderr.text}`);
    },
  },
  {
    id: "exec.not-executable",
    title: "a file that cannot be executed is a result with exit code 126",
    needs: ["exec.argv", "files"],
    traits: ["fork"],
    async run({ shared, path }) {
      const file = path("data.txt");
      await shared.files.write(file, "no program\n", { permissions: 0o644 });
      const result = await shared.exec([`${shared.workdir}/${file}`]);
      assert.deepEqual([result.reason, result.exitCode], ["exited", 126]);
      assert.notEqual(result.stderr.text, "");
    },
  },
  {
    id: "exec.signal-death",
    title: "a program ended by a signal says which, and has no exit code",
    needs: ["exec.argv"],
    programs: ["signal"],
    async run({ shared, program }) {
      for (const name of ["KILL", "TERM"]) {
        const result = await shared.exec(program("signal", name));
        assert.deepEqual([result.reason, result.signal, result.exitCode], ["signaled", `SIG${name}`, null]);
        assert.equal(result.ok, false);
      }
    },
  },
  {
    id: "exec.signal-death.no-timeout",
    title: "a death by signal before the deadline is no timeout",
    needs: ["exec.argv"],
    programs: ["signal"],
    reports: ["UKGovernmentBEIS/inspect_ai#2779"],
    async run({ shared, program }) {
      const result = await shared.exec(program("signal", "TERM"), { timeoutMs: 20_000 });
      assert.equal(result.reason, "signaled");
    },
  },
  {
    id: "exec.result.or-throw",
    title: "orThrow gives a good result back and throws a bad one, with the result in the error",
    needs: ["exec.argv"],
    programs: ["exit", "bytes"],
    async run({ shared, program }) {
      const good = await shared.exec(program("bytes", text("fine")));
      assert.equal(good.orThrow(), good);
      const bad = await shared.exec(program("exit", "3"));
      const error = await rejects((async () => bad.orThrow())(), "COMMAND_FAILED", "3");
      assert.equal(error.result, bad);
    },
  },
  {
    id: "exec.result.duration",
    title: "the duration covers the run",
    needs: ["exec.argv"],
    programs: ["sleep"],
    async run({ shared, program }) {
      const result = await shared.exec(program("sleep", "0.3"));
      assert.ok(result.durationMs >= 290 && result.durationMs < 20_000, `durationMs is ${result.durationMs}`);
    },
  },
  {
    id: "exec.output.both-streams",
    title: "stdout and stderr are kept apart",
    needs: ["exec.argv", "exec.stderr"],
    programs: ["both"],
    reports: ["daytonaio/daytona#5144"],
    async run({ shared, program }) {
      const { stdout, stderr, stderrMerged } = await shared.exec(program("both", "3"));
      assert.deepEqual([stdout.text, stderr.text, stderrMerged], ["o0 o1 o2 ", "e0 e1 e2 ", false]);
    },
  },
  {
    id: "exec.output.merged",
    title: "with mergeStderr both streams come as one, in the order they were written",
    needs: ["exec.argv", "exec.stderr"],
    programs: ["both"],
    async run({ shared, program }) {
      const { stdout, stderr, stderrMerged } = await shared.exec(program("both", "3"), { mergeStderr: true });
      assert.deepEqual([stdout.text, stderr.text, stderrMerged], ["o0 e0 o1 e1 o2 e2 ", "", true]);
    },
  },
  {
    id: "exec.background-child",
    title: "a command is over when the program ends, though a child of it holds the output open",
    needs: ["exec.argv", "files"],
    programs: ["holder"],
    reports: ["apocas/dockerode#534", "apocas/dockerode#422"],
    async run({ sandbox, program, unique }) {
      const own = await sandbox();
      const result = await within(15_000, "exec", own.exec(program("holder", unique("beat"))));
      assert.deepEqual([result.reason, result.exitCode, result.stdout.text], ["exited", 3, "leader"]);
    },
  },
  {
    id: "exec.files-persist",
    title: "what one command writes the next one reads",
    needs: ["exec.argv", "files"],
    programs: ["read", "write"],
    async run({ shared, program, path }) {
      const file = path("kept");
      (await shared.exec(program("write", file, "kept"))).orThrow();
      assert.equal((await shared.exec(program("read", file))).stdout.text, "kept");
    },
  },
  {
    id: "exec.listener.throws",
    title: "a listener that throws ends the command, and the call rejects with what it threw",
    needs: ["exec.argv", "exec.stream"],
    programs: ["say"],
    async run({ shared, program }) {
      const thrown = new Error("the listener has had enough");
      const run = shared.exec(program("say", "60", "words"), {
        onOutput() {
          throw thrown;
        },
      });
      assert.equal(await within(15_000, "exec", failure(run)), thrown);
    },
  },
];
