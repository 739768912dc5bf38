import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type RemoteSession, remoteSession } from "../../src/remote/remote-session.js";
import { Sandbox } from "../../src/sandbox.js";
import type { Faults, LocalTerminalOptions } from "./local-terminal.js";
import { LocalBox } from "./remote-box.js";

const sessions: RemoteSession[] = [];
const size = 30 * 1024 * 1024;

async function open(options: LocalTerminalOptions = {}, box = new LocalBox(options)) {
  const session = await remoteSession(box, { origin: "created" });
  sessions.push(session);
  return { box, session, sandbox: new Sandbox(session), terminal: box.lastTerminal };
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.destroy()));
});

/** Every value of a byte, in an order that repeats only after a prime number of bytes. */
function pattern(length: number): Buffer {
  const block = Buffer.alloc(65_521);
  for (let at = 0; at < block.length; at += 1) block[at] = (at * 7 + (at >> 8)) & 0xff;
  return Buffer.alloc(length, block);
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A break after each so many bytes, a little different each time. */
function drops(every: number, most: number, more = 5003): Faults {
  let count = 0;
  return { dropAfterBytes: () => (++count > most ? Number.POSITIVE_INFINITY : every + ((count * 7919) % more)) };
}

/** What goes wrong while 30 MB go out, and the same come back. */
const ways: readonly (readonly [string, () => LocalTerminalOptions])[] = [
  ["nothing goes wrong", () => ({})],
  ["the connection drops every MB or so", () => ({ faults: drops(1_000_000, 25) })],
  ["everything comes in pieces of 1 KB", () => ({ faults: { pieceBytes: 1000, ...drops(3_000_000, 5) } })],
  ["sends are short", () => ({ maxSendBytes: 5000 })],
  [
    "every tenth send fails, and nobody knows whether it has arrived",
    () => {
      let count = 0;
      return {
        faults: {
          failSend: () => {
            count += 1;
            return count > 20 && count % 10 === 0 ? (count % 20 === 0 ? "after" : "before") : undefined;
          },
        },
      };
    },
  ],
];

describe("30 MB both ways are exact", () => {
  it.each(ways)("when %s", { timeout: 120_000 }, async (_title, options) => {
    const { sandbox } = await open(options());
    const bytes = pattern(size);
    await sandbox.files.write("data", bytes);
    const sum = await sandbox.exec(["sha256sum", "data"]);
    expect(sum.stdout.text.slice(0, 64)).toBe(digest(bytes));
    const back = await sandbox.files.read("data", { maxBytes: size });
    expect(digest(back)).toBe(digest(bytes));
    const output = await sandbox.exec(["cat", "data"], { maxOutputBytes: size });
    expect(digest(output.stdout.bytes)).toBe(digest(bytes));
  });
});

it("is exact when every byte comes alone", async () => {
  const { sandbox } = await open({ faults: { pieceBytes: 1, ...drops(50_000, 3) } });
  const bytes = pattern(200_000);
  await sandbox.files.write("data", bytes);
  expect(digest(await sandbox.files.read("data"))).toBe(digest(bytes));
});

it("loses no command and doubles none over 20 drops", { timeout: 120_000 }, async () => {
  const { sandbox, terminal } = await open({ faults: drops(700, 25, 600) });
  const codes = Array.from({ length: 150 }, (_, index) => index);
  const results: (number | null)[] = [];
  for (const code of codes) {
    const result = await sandbox.exec(`echo ${code} >> ran; printf '%64d' ${code}; exit ${code}`);
    results.push(result.exitCode);
  }
  expect(results).toEqual(codes);
  expect(terminal.connects).toBeGreaterThan(20);
  expect(await sandbox.files.readText("ran")).toBe(codes.map((code) => `${code}\n`).join(""));
});

it("runs commands beside each other while the connection drops", { timeout: 120_000 }, async () => {
  const { sandbox, terminal } = await open();
  const dropping = setInterval(() => terminal.drop(), 150);
  const work = Array.from({ length: 12 }, (_, index) =>
    sandbox.exec(`for i in 1 2 3 4 5; do echo ${index}-$i; sleep 0.1; done; exit ${index}`),
  );
  const results = await Promise.all(work);
  clearInterval(dropping);
  results.forEach((result, index) => {
    expect(result.exitCode).toBe(index);
    expect(result.stdout.text).toBe([1, 2, 3, 4, 5].map((step) => `${index}-${step}\n`).join(""));
  });
});

it("leaves no process of its own behind", async () => {
  const { session, sandbox } = await open();
  await sandbox.exec("true");
  await session.destroy();
  await expect.poll(async () => agentsNamed(session), { timeout: 10_000 }).toBe(false);
});

async function agentsNamed(session: RemoteSession): Promise<boolean> {
  const sockets = await readFile("/proc/net/unix", "utf8");
  const { provider, id } = session.ref;
  return sockets.includes(createHash("sha256").update(`${provider}\0${id}`).digest("hex").slice(0, 32));
}
