import { strict as assert } from "node:assert";
import type { Kernel } from "../../kernel/kernel.js";
import { rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Several kernels, and the queue of each. */
export const kernelHandleCases: readonly ConformanceCase[] = [
  {
    id: "kernel.queue",
    title: "cells run one after another, in the order they were asked for",
    needs: ["kernel.python"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      await kernel.run("log = []");
      const cell = (number: number) =>
        `import asyncio\nlog.append(${number})\nawait asyncio.sleep(0.01)\nlog.append(${number})`;
      await Promise.all(Array.from({ length: 10 }, (_, number) => kernel.run(cell(number))));
      const expected = Array.from({ length: 20 }, (_, index) => Math.floor(index / 2));
      assert.deepEqual((await kernel.run("log")).value, expected);
      await close(kernel);
    },
  },
  {
    id: "kernel.queue.own-output",
    title: "queued cells each get their own output",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cells = Array.from({ length: 10 }, (_, number) => shared.runCode(`print("cell ${number}")\n${number}`));
      const results = await Promise.all(cells);
      results.forEach((cell, number) => {
        assert.deepEqual([cell.stdout.text, cell.value], [`cell ${number}\n`, number]);
      });
    },
  },
  {
    id: "kernel.queue.clock",
    title: "the clock of a cell starts when it does",
    needs: ["kernel.python"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      const first = kernel.run("import time\ntime.sleep(2.2)");
      const second = await kernel.run("'in time'", { timeoutMs: 2_000 });
      assert.equal((await first).reason, "exited");
      assert.deepEqual([second.reason, second.value], ["exited", "in time"]);
      await close(kernel);
    },
  },
  {
    id: "kernel.apart",
    title: "kernels do not share variables, and run at the same time",
    needs: ["kernel.python", "files"],
    reports: ["cloudflare/sandbox-sdk#235"],
    async run({ shared, path }) {
      const [one, two] = await Promise.all([shared.kernel(), shared.kernel()]);
      await one.run("mine = 1\nimport builtins\nbuiltins.leaked = True");
      assert.equal((await two.run("'mine' in globals() or hasattr(__import__('builtins'), 'leaked')")).value, false);
      const waiting = one.run(`import os, time\nwhile not os.path.exists("${path("go")}"): time.sleep(0.05)`);
      await two.run(`open("${path("go")}", "w").close()`);
      assert.equal((await within(15_000, "the waiting cell", waiting)).ok, true);
      await Promise.all([close(one), close(two)]);
    },
  },
  {
    id: "kernel.many",
    title: "eleven kernels keep eleven states",
    needs: ["kernel.python"],
    reports: ["cloudflare/sandbox-sdk#235"],
    limitMs: 120_000,
    async run({ sandbox }) {
      const own = await sandbox();
      const kernels: Kernel[] = [];
      for (let number = 0; number < 11; number++) {
        const kernel = await own.kernel();
        await kernel.run(`mine = ${number}`);
        kernels.push(kernel);
      }
      const values = await Promise.all(kernels.map(async (kernel) => (await kernel.run("mine")).value));
      assert.deepEqual(
        values,
        kernels.map((_, number) => number),
      );
    },
  },
  {
    id: "kernel.by-id",
    title: "a kernel has an id by which it is found again, in its own directory",
    needs: ["kernel.python", "files"],
    async run({ shared, path, unique }) {
      await shared.files.mkdir(path("place"));
      const id = unique("kernel");
      const kernel = await shared.kernel({ id, cwd: path("place") });
      assert.deepEqual([kernel.id, kernel.language], [id, "python"]);
      await kernel.run("import os\nmine = os.getcwd()");
      assert.equal((await shared.runCode("mine", { kernel: id })).value, `${shared.workdir}/${path("place")}`);
      assert.equal((await (await shared.kernel({ id })).run("mine[-5:]")).value, "place");
      await rejects(shared.kernel({ id, cwd: "." }), "CONFLICT", id, "cwd");
      await rejects(shared.kernel({ id, env: { A: "1" } }), "CONFLICT", id, "env");
      await rejects(shared.kernel({ id, language: "bash" }), "CONFLICT", id, "language");
      assert.equal(await shared.kernel({ id, cwd: path("place"), language: "python" }), kernel);
      await close(kernel);
      await rejects(kernel.run("1"), "NOT_FOUND", id);
    },
  },
];

const close = (kernel: Kernel) => kernel[Symbol.asyncDispose]();
