import { DaytonaConnectionError, DaytonaTimeoutError, type Sandbox } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("the interpreter", () => {
  it("keeps what it was told, by context, and gives both outputs as they come", async () => {
    const { codeInterpreter } = sandbox;
    await codeInterpreter.runCode("x = 41");
    const pieces: string[] = [];
    const code =
      "import os, sys\nprint(x + 1, os.environ['WORD'], 'é')\nprint('e', file=sys.stderr)\nos.system('echo child')";
    const onStdout = ({ output }: { output: string }) => {
      pieces.push(output);
    };
    const result = await codeInterpreter.runCode(code, { envs: { WORD: "w" }, onStdout });
    expect(result).toEqual({ stdout: expect.stringContaining("42 w é\n"), stderr: "e\n" });
    expect(pieces.join("")).toContain("child\n");

    const context = await codeInterpreter.createContext();
    const other = await codeInterpreter.runCode("print('x' in globals())", { context });
    expect(other.stdout).toBe("False\n");
    expect((await codeInterpreter.listContexts()).map(({ id }) => id).sort()).toEqual([context.id, "default"].sort());
    await codeInterpreter.deleteContext(context);
    await expect(codeInterpreter.runCode("1", { context })).rejects.toThrow(DaytonaConnectionError);
  });

  it("tells an exception as a result", async () => {
    const { error } = await sandbox.codeInterpreter.runCode("def f():\n    1 / 0\nf()");
    expect(error).toMatchObject({ name: "ZeroDivisionError", value: "division by zero" });
    expect(error?.traceback).toContain('File "<interpreter>", line 2, in f');
  });

  it("interrupts code that takes too long, which the SDK takes for a success, and keeps its state", async () => {
    const { codeInterpreter } = sandbox;
    const result = await codeInterpreter.runCode("y = 1\nimport time\ntime.sleep(60)", { timeout: 1 });
    expect(result.error).toBeUndefined();
    expect((await codeInterpreter.runCode("print(y)")).stdout).toBe("1\n");
  });

  it("ends code that ignores the interrupt, with what it had defined", async () => {
    const { codeInterpreter } = sandbox;
    const context = await codeInterpreter.createContext();
    const stubborn = "import time, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)";
    await expect(codeInterpreter.runCode(stubborn, { context, timeout: 1 })).rejects.toThrow(DaytonaTimeoutError);
    await expect(codeInterpreter.runCode("1", { context })).rejects.toThrow(/1008/);
  });

  it("tells its own death as a success, and refuses what comes then", async () => {
    const { codeInterpreter } = sandbox;
    const context = await codeInterpreter.createContext();
    const result = await codeInterpreter.runCode("import os\nos._exit(1)", { context });
    expect(result).toEqual({ stdout: "", stderr: "" });
    await expect(codeInterpreter.runCode("1", { context })).rejects.toThrow(/1008/);
  });
});
