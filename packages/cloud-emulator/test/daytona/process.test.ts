import { randomUUID } from "node:crypto";
import {
  DaytonaNotFoundError,
  DaytonaProcessExecutionTimeoutError,
  DaytonaValidationError,
  type Sandbox,
} from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("a command", () => {
  it("runs in a directory with an environment, both outputs in one", async () => {
    await sandbox.fs.createFolder("sub dir", "755");
    const command = 'echo "$WORD $(basename "$PWD")"; echo down >&2; echo up; exit 3';
    const { exitCode, result } = await sandbox.process.executeCommand(command, "sub dir", { WORD: "a 'b'" });
    expect({ exitCode, result }).toEqual({ exitCode: 3, result: "a 'b' sub dir\ndown\nup\n" });
  });

  it("that a signal ends has the exit code of a shell", async () => {
    expect((await sandbox.process.executeCommand("kill -TERM $$")).exitCode).toBe(128 + 15);
  });

  it("in a directory that is missing does not start", async () => {
    expect((await sandbox.process.executeCommand("true", "/no/where")).exitCode).toBe(-1);
  });

  it("reads the rest of itself as its input", async () => {
    expect((await sandbox.process.executeCommand("read word\nsecond\necho got $word")).result).toBe("got second\n");
  });

  it("that takes too long is ended with its group, and what it has printed is lost", async () => {
    const command = "(sleep 30; touch late) & echo partial; echo $$ >leader; sleep 30";
    const running = sandbox.process.executeCommand(command, undefined, undefined, 1);
    await expect(running).rejects.toThrow(DaytonaProcessExecutionTimeoutError);
    const check = await sandbox.process.executeCommand('kill -0 -- "-$(cat leader)" 2>&1 || echo gone; ls late');
    expect(check.result).toContain("gone");
  });

  it("is waited for until nobody has its output open", async () => {
    const { result } = await sandbox.process.executeCommand("(sleep 1; echo late) & echo early");
    expect(result).toBe("early\nlate\n");
  });

  it("prints 5 MB", async () => {
    const { result } = await sandbox.process.executeCommand("head -c 5000000 /dev/zero | tr '\\0' x");
    expect(result.length).toBe(5_000_000);
  });
});

describe("code", () => {
  it("runs in a fresh interpreter of the sandbox's language", async () => {
    const { exitCode, result } = await sandbox.process.codeRun(
      "import sys, os\nprint(sys.argv[1:], os.environ['WORD'])\nsys.exit(4)",
      { argv: ["a", "b c"], env: { WORD: "w" } },
    );
    expect({ exitCode, result }).toEqual({ exitCode: 4, result: "['a', 'b c'] w\n" });
    const script = await cloud.daytona.create({ language: "javascript" });
    expect((await script.process.codeRun("console.log(process.argv.length, 6 * 7)")).result).toBe("2 42\n");
    await script.delete();
  });
});

describe("a session", () => {
  it("keeps its directory and its variables from one command to the next", async () => {
    const id = randomUUID();
    await sandbox.process.createSession(id);
    await sandbox.process.executeSessionCommand(id, { command: "cd /; WORD=kept" });
    const second = await sandbox.process.executeSessionCommand(id, {
      command: "echo $WORD in $PWD; echo e >&2; (exit 5)",
    });
    expect(second).toMatchObject({ exitCode: 5, stdout: "kept in /\n", stderr: "e\n" });
    const session = await sandbox.process.getSession(id);
    expect(session.commands.map(({ exitCode }) => exitCode)).toEqual([0, 5]);
    expect((await sandbox.process.listSessions()).map(({ sessionId }) => sessionId)).toContain(id);
    await sandbox.process.deleteSession(id);
    await expect(sandbox.process.getSession(id)).rejects.toThrow(DaytonaNotFoundError);
  });

  it("runs a command in the background, gives it lines, and streams its log", async () => {
    const id = randomUUID();
    await sandbox.process.createSession(id);
    const command = "while read line; do echo got $line; [ $line = end ] && break; done; echo done >&2";
    const { cmdId, exitCode } = await sandbox.process.executeSessionCommand(id, {
      command,
      runAsync: true,
      suppressInputEcho: true,
    });
    expect(exitCode).toBeUndefined();
    const output = { stdout: "", stderr: "" };
    const streamed = sandbox.process.getSessionCommandLogs(
      id,
      cmdId,
      (text) => {
        output.stdout += text;
      },
      (text) => {
        output.stderr += text;
      },
    );
    await sandbox.process.sendSessionCommandInput(id, cmdId, "one");
    await sandbox.process.sendSessionCommandInput(id, cmdId, "end");
    await streamed;
    expect(output).toEqual({ stdout: "got one\ngot end\n", stderr: "done\n" });
    expect((await sandbox.process.getSessionCommand(id, cmdId)).exitCode).toBe(0);
    await sandbox.process.deleteSession(id);
  });

  it("is dead after a command that exits: the next one is accepted and never runs", async () => {
    const id = randomUUID();
    await sandbox.process.createSession(id);
    const first = await sandbox.process.executeSessionCommand(id, { command: "exit 3", runAsync: true });
    const next = await sandbox.process.executeSessionCommand(id, { command: "touch ran", runAsync: true });
    await sandbox.process.executeCommand("sleep 1");
    expect((await sandbox.process.getSessionCommand(id, first.cmdId)).exitCode).toBeUndefined();
    expect((await sandbox.process.getSessionCommand(id, next.cmdId)).exitCode).toBeUndefined();
    expect((await sandbox.process.executeCommand("ls ran")).exitCode).not.toBe(0);
    await sandbox.process.deleteSession(id);
  });

  it("takes what it has started with it when it is deleted", async () => {
    const id = randomUUID();
    await sandbox.process.createSession(id);
    await sandbox.process.executeSessionCommand(id, { command: "sleep 60 & echo $! >child", runAsync: true });
    await sandbox.process.executeCommand("until [ -s child ]; do sleep 0.05; done");
    await sandbox.process.deleteSession(id);
    const check = await sandbox.process.executeCommand('kill -0 "$(cat child)" || echo gone');
    expect(check.result).toContain("gone");
  });
});

describe("a sandbox that is stopped", () => {
  it("refuses to run anything, as a bad request", async () => {
    const stopped = await cloud.daytona.create();
    await stopped.stop();
    await expect(stopped.process.executeCommand("true")).rejects.toThrow(DaytonaValidationError);
    await stopped.delete();
  });
});
