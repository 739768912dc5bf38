import { E2B, type Sandbox } from "e2b";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sdkMethods, startWitness, type Witness } from "./descriptors.js";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
let witness: Witness;
let sandbox: Sandbox;

beforeAll(async () => {
  cloud = await startCloud({ quirks: { keepaliveMs: 50 } });
  witness = await startWitness(cloud.emulator.url);
  const client = new E2B({ apiKey: cloud.emulator.apiKey, apiUrl: witness.url, sandboxUrl: witness.url });
  sandbox = await client.Sandbox.create();
});
afterAll(async () => {
  await witness[Symbol.asyncDispose]();
  await cloud.emulator.close();
});

/** A unary call that the SDK has no method for. */
async function call(method: string, request: unknown): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    "e2b-sandbox-id": sandbox.sandboxId,
    "x-access-token": Reflect.get(sandbox, "envdAccessToken"),
  };
  const answer = await fetch(witness.url + method, { method: "POST", headers, body: JSON.stringify(request) });
  return (await answer.json()) as Record<string, unknown>;
}

it("answers every method with the messages that the SDK declares", async () => {
  const handle = await sandbox.commands.run("cat; echo no >&2; exit 3", { background: true, stdin: true });
  await sandbox.commands.list();
  await handle.sendStdin("text");
  await expect.poll(() => handle.stdout).toBe("text");
  const second = await sandbox.commands.connect(handle.pid);
  await handle.closeStdin();
  await handle.wait().catch(() => undefined);
  await second.wait().catch(() => undefined);
  await sandbox.commands.run("true", { user: "stranger" }).catch(() => undefined);
  await sandbox.commands.run("sleep 9", { timeoutMs: 1_500 }).catch(() => undefined);

  const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: () => {} });
  await sandbox.pty.sendInput(terminal.pid, Buffer.from("echo\n"));
  await sandbox.pty.resize(terminal.pid, { cols: 90, rows: 20 });
  await sandbox.pty.kill(terminal.pid);
  await terminal.wait().catch(() => undefined);
  await sandbox.pty.resize(terminal.pid, { cols: 90, rows: 20 }).catch(() => undefined);

  await sandbox.files.makeDir("a/b");
  await sandbox.files.write("a/f", "x");
  await sandbox.commands.run("ln -s f a/link; ln -s nothing a/broken; mkfifo a/pipe");
  await sandbox.files.list("a", { depth: 2 });
  await sandbox.files.getInfo("a/link");
  await sandbox.files.getInfo("missing").catch(() => undefined);
  await sandbox.files.rename("a/f", "a/g");
  const seen: string[] = [];
  const watch = await sandbox.files.watchDir("a", ({ name }) => void seen.push(name), { includeEntry: true });
  await sandbox.files.write("a/new", "x");
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  await watch.stop();
  const { watcherId } = await call("/filesystem.Filesystem/CreateWatcher", { path: "a" });
  await sandbox.files.write("a/newer", "x");
  await expect
    .poll(async () => (await call("/filesystem.Filesystem/GetWatcherEvents", { watcherId })).events)
    .not.toEqual([]);
  await call("/filesystem.Filesystem/RemoveWatcher", { watcherId });
  await sandbox.files.remove("a");

  const streams = [...(await sdkMethods()).keys()].filter((path) => !path.endsWith("/StreamInput"));
  await expect.poll(() => [...witness.checked.keys()].sort()).toEqual(streams.sort());
  expect(witness.violations).toEqual([]);
});
