import { afterEach, expect, it } from "vitest";
import { type RemoteSession, remoteSession } from "../../src/remote/remote-session.js";
import { Sandbox } from "../../src/sandbox.js";
import type { LocalTerminalOptions } from "./local-terminal.js";
import { LocalBox } from "./remote-box.js";

const sessions: RemoteSession[] = [];

async function open(options: LocalTerminalOptions = {}) {
  const box = new LocalBox(options);
  const session = await remoteSession(box, { origin: "created" });
  sessions.push(session);
  return { box, session, sandbox: new Sandbox(session) };
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.destroy()));
});

it("runs commands with their exit codes and outputs", async () => {
  const { sandbox } = await open();
  const result = await sandbox.exec("echo out; echo err >&2; exit 3");
  expect(result).toMatchObject({ exitCode: 3, stdout: { text: "out\n" }, stderr: { text: "err\n" } });
});

it("keeps files and the state of kernels", async () => {
  const { sandbox } = await open();
  await sandbox.files.write("a/b.txt", "hello");
  expect(await sandbox.files.readText("a/b.txt")).toBe("hello");
  await sandbox.runCode("x = 20");
  expect((await sandbox.runCode("x + 1")).value).toBe(21);
});

it("goes on where it was when the connection drops", async () => {
  const { box, sandbox } = await open();
  const running = sandbox.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; exit 5");
  await new Promise((resolve) => setTimeout(resolve, 500));
  box.lastTerminal.drop();
  const result = await running;
  expect(result).toMatchObject({ exitCode: 5, stdout: { text: "1\n2\n3\n4\n5\n6\n" } });
  expect(box.lastTerminal.connects).toBe(2);
});
