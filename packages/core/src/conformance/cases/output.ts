import { strict as assert } from "node:assert";
import { equalBytes, eventually, settled, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { allBytes, multibyte } from "../material.js";
import { octal } from "../programs.js";

/** What a command writes arrives exactly, and as it is written. */
export const outputCases: readonly ConformanceCase[] = [
  {
    id: "output.binary",
    title: "bytes come out exactly, NUL and invalid UTF-8 included",
    needs: ["exec.argv"],
    programs: ["bytes"],
    async run({ shared, program }) {
      const { stdout } = (await shared.exec(program("bytes", octal(allBytes)))).orThrow();
      equalBytes(stdout.bytes, allBytes);
      assert.equal(stdout.totalBytes, allBytes.length);
      assert.ok(stdout.text.includes("\ufffd"), "invalid UTF-8 shows as U+FFFD in text");
    },
  },
  {
    id: "output.line-ends",
    title: "line ends, or their absence, are kept",
    needs: ["exec.argv"],
    programs: ["bytes"],
    async run({ shared, program }) {
      for (const text of ["\ufeffmark\r\n a\rb\n\n no end", "\n"]) {
        const { stdout } = await shared.exec(program("bytes", octal(Buffer.from(text))));
        equalBytes(stdout.bytes, Buffer.from(text));
      }
    },
  },
  {
    id: "output.multibyte",
    title: "text is decoded right however the stream is cut",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["copy"],
    reports: [
      "strands-agents/harness-sdk#4156",
      "openai/openai-agents-js#1751",
      "earendil-works/pi#433",
      "e2b-dev/E2B#505",
      "langchain-ai/deepagents#2983",
      "langchain-ai/deepagents#2987",
    ],
    async run({ shared, program }) {
      // One byte before, so that characters lie across every power of two.
      const stdin = `a${"漢🎈é".repeat(70_000)}`;
      let streamed = "";
      const result = await shared.exec(program("copy"), {
        stdin,
        onOutput: ({ text }) => {
          streamed += text;
        },
      });
      assert.ok(result.orThrow().stdout.text === stdin, "the captured text differs");
      assert.ok(streamed === stdin, "the streamed text differs");
    },
  },
  {
    id: "output.multibyte.byte-by-byte",
    title: "a character that arrives byte by byte comes whole",
    needs: ["exec.argv", "exec.stream"],
    programs: ["slowly"],
    reports: ["strands-agents/harness-sdk#4156", "openai/openai-agents-js#1751"],
    async run({ shared, program }) {
      const pieces = Array.from(Buffer.from(multibyte), (byte) => octal(Uint8Array.of(byte)));
      const texts: string[] = [];
      const sizes: number[] = [];
      const result = await shared.exec(program("slowly", "0.03", ...pieces), {
        onOutput: ({ text, bytes }) => {
          texts.push(text);
          sizes.push(bytes.length);
        },
      });
      assert.equal(result.stdout.text, multibyte);
      assert.equal(texts.join(""), multibyte);
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        Buffer.byteLength(multibyte),
      );
    },
  },
  {
    id: "output.multibyte.cut-short",
    title: "a character cut off by the end of the output shows as U+FFFD, once",
    needs: ["exec.argv", "exec.stream"],
    programs: ["bytes"],
    async run({ shared, program }) {
      let streamed = "";
      const result = await shared.exec(program("bytes", octal(Uint8Array.of(0x61, 0xe6, 0xbc))), {
        onOutput: ({ text }) => {
          streamed += text;
        },
      });
      assert.deepEqual([result.stdout.text, streamed], ["a\ufffd", "a\ufffd"]);
    },
  },
  {
    id: "output.stream.as-written",
    title: "output is seen while the program runs",
    needs: ["exec.argv", "exec.stream", "files"],
    programs: ["await"],
    reports: ["cloudflare/sandbox-sdk#101"],
    async run({ shared, program, path }) {
      const go = path("go");
      let seen = "";
      const run = shared.exec(program("await", go), {
        timeoutMs: 20_000,
        onOutput: ({ text }) => {
          seen += text;
        },
      });
      await eventually("output before the end", () => seen === "ready");
      await shared.files.write(go, "");
      assert.equal((await run).stdout.text, "readydone");
    },
  },
  {
    id: "output.stream.tagged",
    title: "a listener is told which stream each piece belongs to",
    needs: ["exec.argv", "exec.stream", "exec.stderr"],
    programs: ["both"],
    async run({ shared, program }) {
      const seen = { stdout: "", stderr: "" };
      const result = await shared.exec(program("both", "50"), {
        onOutput: ({ stream, text }) => {
          seen[stream] += text;
        },
      });
      assert.deepEqual(seen, { stdout: result.stdout.text, stderr: result.stderr.text });
      assert.ok(seen.stdout.startsWith("o0 o1 ") && seen.stderr.startsWith("e0 e1 "));
    },
  },
  {
    id: "output.stream.complete",
    title: "when the call settles the listener has seen every byte",
    needs: ["exec.argv", "exec.stream"],
    programs: ["flood"],
    async run({ shared, program }) {
      let seen = 0;
      const result = await shared.exec(program("flood", "32"), {
        maxOutputBytes: 100,
        onOutput: async ({ bytes }) => {
          await Promise.resolve();
          seen += bytes.length;
        },
      });
      assert.equal(seen, 32 * 65_536 + 8);
      assert.equal(result.stdout.totalBytes, seen);
    },
  },
  {
    id: "output.back-pressure.listener",
    title: "a slow listener holds the program up",
    needs: ["exec.argv", "exec.stream", "files"],
    programs: ["flood"],
    async run({ shared, program, path }) {
      const progress = path("progress");
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const run = shared.exec(program("flood", "512", progress), { onOutput: () => gate });
      try {
        await eventually("some progress", () => shared.files.exists(progress));
        const blocks = await settled(async () => (await shared.files.stat(progress)).size);
        assert.ok(blocks < 384, `${blocks} of 512 blocks of 64 KiB were written though nobody took them`);
      } finally {
        release();
      }
      const result = await within(25_000, "exec", run);
      assert.equal(result.orThrow().stdout.totalBytes, 512 * 65_536 + 8);
    },
  },
  {
    id: "output.quiet",
    title: "a command that writes nothing for a while is left alone",
    needs: ["exec.argv"],
    programs: ["sleep"],
    reports: ["cloudflare/sandbox-sdk#911"],
    async run({ shared, program }) {
      const result = await shared.exec(program("sleep", "1.5"), { timeoutMs: 20_000 });
      assert.deepEqual([result.reason, result.exitCode], ["exited", 0]);
    },
  },
];
