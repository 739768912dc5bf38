import { strict as assert } from "node:assert";
import { deferred } from "../../deferred.js";
import type { KernelLanguage } from "../../provider.js";
import { within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** The same few things in every other language. */
const samples: readonly {
  readonly language: Extract<KernelLanguage, "javascript" | "bash">;
  readonly define: string;
  readonly print: string;
  readonly fail: string;
  readonly loop: string;
}[] = [
  {
    language: "javascript",
    define: "var kept = 20 + 1;",
    print: "console.log('kept', kept * 2)",
    fail: "console.log('before'); throw new TypeError('wrong')",
    loop: "console.log('started'); while (true) {}",
  },
  {
    language: "bash",
    define: "kept=21",
    print: 'echo "kept $((kept * 2))"',
    fail: "echo before; false",
    loop: "echo started; while :; do :; done",
  },
];

/** JavaScript and shell cells. */
export const kernelLanguageCases: readonly ConformanceCase[] = samples.flatMap(
  ({ language, define, print, fail, loop }): ConformanceCase[] => [
    {
      id: `kernel.${language}.state`,
      title: `what a ${language} cell defines the next one sees, and prints`,
      needs: [`kernel.${language}`],
      async run({ shared }) {
        assert.equal((await shared.runCode(define, { language })).ok, true);
        const cell = await shared.runCode(print, { language });
        assert.deepEqual([cell.stdout.text, cell.exitCode], ["kept 42\n", 0], cell.error?.traceback);
      },
    },
    {
      id: `kernel.${language}.failure`,
      title: `a ${language} cell that fails is a result with exit code 1 and what it wrote before`,
      needs: [`kernel.${language}`],
      async run({ shared }) {
        const cell = await shared.runCode(fail, { language });
        assert.deepEqual([cell.ok, cell.exitCode, cell.stdout.text, cell.stateLost], [false, 1, "before\n", false]);
      },
    },
    {
      id: `kernel.${language}.interrupt`,
      title: `interrupt stops the running ${language} cell and keeps the state`,
      needs: [`kernel.${language}`, "kernel.interrupt"],
      async run({ shared }) {
        const kernel = await shared.kernel({ language });
        await kernel.run(define);
        const started = deferred<void>();
        const cell = kernel.run(loop, { onOutput: () => started.resolve() });
        await within(20_000, "the first output of the cell", started.promise);
        assert.deepEqual(await within(10_000, "the interrupt", kernel.interrupt()), { stateLost: false });
        const { ok, stateLost } = await within(10_000, "the interrupted cell", cell);
        assert.deepEqual([ok, stateLost], [false, false]);
        assert.equal((await kernel.run(print)).stdout.text, "kept 42\n");
        await kernel[Symbol.asyncDispose]();
      },
    },
    {
      id: `kernel.${language}.timeout`,
      title: `a ${language} cell that does not end is ended by its timeout, and the next one works`,
      needs: [`kernel.${language}`],
      async run({ shared }) {
        await shared.runCode(define, { language });
        const cell = await within(20_000, "the cell", shared.runCode(loop, { language, timeoutMs: 500 }));
        assert.deepEqual([cell.reason, cell.exitCode, cell.stdout.text], ["timeout", null, "started\n"]);
        if (cell.stateLost) await shared.runCode(define, { language });
        assert.equal((await shared.runCode(print, { language })).stdout.text, "kept 42\n");
      },
    },
  ],
);
