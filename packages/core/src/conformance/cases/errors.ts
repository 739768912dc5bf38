import { strict as assert } from "node:assert";
import { SandboxError } from "../../errors.js";
import type { CellOptions } from "../../kernel/kernel.js";
import type { CreateOptions, ExecOptions, KernelRequest, RunCodeOptions } from "../../options.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** What a caller without a type checker could pass. */
const wrong = <T>(options: unknown) => options as T;

/** Mistakes are named, before anything happens. */
export const errorCases: readonly ConformanceCase[] = [
  {
    id: "errors.create.unknown-option",
    title: "an unknown option of create is INVALID, by name, and nothing is created",
    needs: [],
    reports: ["computesdk/computesdk#651"],
    async run({ sandbox, created }) {
      await rejects(sandbox(wrong<CreateOptions>({ memory: 512 })), "INVALID", "memory");
      await rejects(sandbox(wrong<CreateOptions>({ resources: { memoryMB: 512 } })), "INVALID", "memoryMB");
      await rejects(sandbox(wrong<CreateOptions>({ lifetime: { ttl: 5 } })), "INVALID", "ttl");
      assert.equal(created(), 0);
    },
  },
  {
    id: "errors.create.wrong-value",
    title: "a wrong value of an option of create is INVALID, by name, and nothing is created",
    needs: [],
    async run({ sandbox, created }) {
      await rejects(sandbox(wrong<CreateOptions>({ env: { NUMBER: 5 } })), "INVALID", "env");
      await rejects(sandbox({ env: { "A=B": "x" } }), "INVALID", "env");
      await rejects(sandbox({ env: { A: "x\0y" } }), "INVALID", "env");
      await rejects(sandbox({ name: "no spaces please" }), "INVALID", "name");
      await rejects(sandbox({ workdir: "relative" }), "INVALID", "workdir");
      await rejects(sandbox({ resources: { cpus: -1 } }), "INVALID", "resources.cpus");
      await rejects(sandbox({ lifetime: { ttlMs: Number.NaN } }), "INVALID", "lifetime.ttlMs");
      await rejects(sandbox({ template: "python", image: "python:3" }), "INVALID", "template", "image");
      assert.equal(created(), 0);
    },
  },
  {
    id: "errors.create.template",
    title: "a template that does not exist is INVALID or UNSUPPORTED, by name, and nothing is created",
    needs: [],
    async run({ sandbox, created }) {
      await rejects(sandbox({ template: "no-such-template" }), ["INVALID", "UNSUPPORTED"], "no-such-template");
      assert.equal(created(), 0);
    },
  },
  {
    id: "errors.exec.options",
    title: "unknown and wrong options of exec are INVALID, by name, and nothing runs",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    reports: ["computesdk/computesdk#660"],
    async run({ shared, program, path }) {
      const run = (options: unknown) => shared.exec(program("write", path("ran"), "yes"), wrong<ExecOptions>(options));
      await rejects(run({ timeout: 5 }), "INVALID", "timeout");
      await rejects(run({ timeoutMs: -5 }), "INVALID", "timeoutMs");
      await rejects(run({ timeoutMs: "5" }), "INVALID", "timeoutMs");
      await rejects(run({ maxOutputBytes: 1.5 }), "INVALID", "maxOutputBytes");
      await rejects(run({ onLimit: "ignore" }), "INVALID", "onLimit");
      await rejects(run({ env: { "A=B": "" } }), "INVALID", "env");
      await rejects(run({ stdin: 5 }), "INVALID", "stdin");
      await rejects(run({ signal: {} }), "INVALID", "signal");
      await rejects(run({ cwd: "" }), "INVALID", "cwd");
      await rejects(run({ cwd: "a\0b" }), "INVALID", "cwd");
      assert.equal(await shared.files.exists(path("ran")), false);
    },
  },
  {
    id: "errors.exec.command",
    title: "an empty command and one with NUL are INVALID",
    needs: ["exec.argv"],
    async run({ shared }) {
      for (const command of ["", "  \n", [], [""], ["a\0b"], wrong<string[]>([5]), wrong<string>(undefined)]) {
        await rejects(shared.exec(command), "INVALID");
      }
    },
  },
  {
    id: "errors.code.options",
    title: "unknown options and languages of a cell, and code that is no string, are INVALID, by name",
    needs: ["kernel.python"],
    async run({ shared }) {
      const run = (options: unknown) => shared.runCode("1", wrong<RunCodeOptions>(options));
      await rejects(run({ timeout: 5 }), "INVALID", "timeout");
      await rejects(run({ language: "cobol" }), "INVALID", "language");
      await rejects(run({ interruptGraceMs: -1 }), "INVALID", "interruptGraceMs");
      await rejects(shared.kernel(wrong<KernelRequest>({ lang: "python" })), "INVALID", "lang");
      await rejects(shared.runCode(wrong<string>(5)), "INVALID", "string");
      const kernel = await shared.kernel();
      await rejects(kernel.run("1", wrong<CellOptions>({ timeout: 5 })), "INVALID", "timeout");
      await rejects(kernel.run(wrong<string>(undefined)), "INVALID", "string");
      await kernel[Symbol.asyncDispose]();
    },
  },
  {
    id: "errors.kernel.unknown",
    title: "a cell for a kernel that does not exist is NOT_FOUND",
    needs: ["kernel.python"],
    async run({ shared }) {
      await rejects(shared.runCode("1", { kernel: "no-such-kernel" }), "NOT_FOUND", "no-such-kernel");
    },
  },
  {
    id: "errors.shape",
    title: "an error says what failed, on what, and serialises to plain data",
    needs: ["files"],
    async run({ shared, path, provider }) {
      const error = await rejects(shared.files.read(path("nothing")), "FILE_NOT_FOUND", "nothing");
      assert.ok(error instanceof SandboxError && error instanceof Error);
      assert.equal(error.name, "SandboxError");
      assert.equal(error.retryable, false);
      assert.equal(error.provider, provider.name);
      const plain = JSON.parse(JSON.stringify(error));
      assert.deepEqual([plain.code, plain.message], ["FILE_NOT_FOUND", error.message]);
    },
  },
  {
    id: "errors.no-host-paths",
    title: "an error shows the path that was asked for, not one of the host",
    needs: ["files"],
    async run({ shared, path, capabilities }) {
      if (capabilities.isolation === "none") return;
      const error = await rejects(shared.files.read(path("nothing")), "FILE_NOT_FOUND");
      assert.ok(!error.message.includes(process.cwd()), error.message);
    },
  },
];
