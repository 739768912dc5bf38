import { strict as assert } from "node:assert";
import { equalBytes, failure, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { allBytes, multibyte, pattern } from "../material.js";

/** Input to a command. */
export const stdinCases: readonly ConformanceCase[] = [
  {
    id: "stdin.omitted",
    title: "without stdin a program that reads gets end of file at once",
    needs: ["exec.argv"],
    programs: ["copy"],
    reports: ["mastra-ai/mastra#24336", "e2b-dev/E2B#927", "e2b-dev/infra#1761"],
    async run({ shared, program }) {
      const result = await within(15_000, "exec", shared.exec(program("copy")));
      assert.deepEqual([result.exitCode, result.stdout.totalBytes], [0, 0]);
    },
  },
  {
    id: "stdin.empty",
    title: "empty stdin is end of file at once",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    async run({ shared, program }) {
      for (const stdin of ["", new Uint8Array()]) {
        const result = await within(15_000, "exec", shared.exec(program("copy"), { stdin }));
        assert.deepEqual([result.exitCode, result.stdout.totalBytes], [0, 0]);
      }
    },
  },
  {
    id: "stdin.text",
    title: "text arrives as UTF-8, followed by end of file",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    reports: ["mattpocock/sandcastle#882"],
    async run({ shared, program }) {
      const stdin = `${multibyte}\r\n no newline at the end`;
      assert.equal((await shared.exec(program("copy"), { stdin })).orThrow().stdout.text, stdin);
    },
  },
  {
    id: "stdin.bytes",
    title: "bytes arrive exactly, NUL and invalid UTF-8 included",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    async run({ shared, program }) {
      const result = await shared.exec(program("copy"), { stdin: allBytes });
      equalBytes(result.orThrow().stdout.bytes, allBytes);
    },
  },
  {
    id: "stdin.stream",
    title: "a stream arrives piece by piece and ends the input when it ends",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["lines"],
    async run({ shared, program }) {
      const pieces = ["one\ntw", "o\n", "three"].map((piece) => Buffer.from(piece));
      const stdin = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift();
          if (piece) controller.enqueue(piece);
          else controller.close();
        },
      });
      const { stdout } = (await shared.exec(program("lines"), { stdin })).orThrow();
      assert.ok(stdout.text.startsWith("got one\ngot two\n") && stdout.text.endsWith("end\n"), stdout.text);
    },
  },
  {
    id: "stdin.stream.fails",
    title: "a stream that fails ends the command, and the call rejects with its error",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    async run({ shared, program }) {
      const broken = new Error("the source broke");
      const stdin = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from("some")),
        pull: (controller) => controller.error(broken),
      });
      assert.equal(await within(15_000, "exec", failure(shared.exec(program("copy"), { stdin }))), broken);
    },
  },
  {
    id: "stdin.large",
    title: "8 MB of input go through a program that answers while it reads",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    reports: ["computesdk/computesdk#783", "NousResearch/hermes-agent#22913"],
    async run({ shared, program }) {
      const stdin = pattern(8 * 1024 * 1024);
      const result = await shared.exec(program("copy"), { stdin, maxOutputBytes: stdin.length });
      equalBytes(result.orThrow().stdout.bytes, stdin);
    },
  },
  {
    id: "stdin.unread",
    title: "a program may end without reading its input",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["exit"],
    async run({ shared, program }) {
      const stdin = new Uint8Array(4 * 1024 * 1024);
      const result = await within(15_000, "exec", shared.exec(program("exit", "5"), { stdin }));
      assert.deepEqual([result.reason, result.exitCode], ["exited", 5]);
    },
  },
  {
    id: "stdin.unread.endless",
    title: "a program may end while its input has no end",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["exit"],
    async run({ shared, program }) {
      let cancelled = false;
      const stdin = new ReadableStream<Uint8Array>({
        pull: () => new Promise<void>(() => undefined),
        cancel: () => {
          cancelled = true;
        },
      });
      const result = await within(15_000, "exec", shared.exec(program("exit", "0"), { stdin }));
      assert.equal(result.exitCode, 0);
      assert.ok(cancelled, "the stream was not told that nobody reads it");
    },
  },
  {
    id: "stdin.held-up",
    title: "input waits while the program does not read",
    needs: ["exec.argv", "exec.stdin", "files"],
    programs: ["await"],
    async run({ shared, program, path }) {
      let produced = 0;
      const stdin = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            produced += 65_536;
            controller.enqueue(new Uint8Array(65_536));
            if (produced >= 64 * 1024 * 1024) controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const run = shared.exec(program("await", path("go")), { stdin });
      await new Promise((resolve) => setTimeout(resolve, 700));
      const taken = produced;
      await shared.files.write(path("go"), "");
      (await run).orThrow();
      assert.ok(taken < 32 * 1024 * 1024, `${taken} bytes were taken from the source though nothing read them`);
    },
  },
];
