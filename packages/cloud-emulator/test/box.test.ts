import { mkdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { local } from "@sandkit/provider-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BoxExit, type BoxProcess, BoxStartError } from "../src/box-process.js";
import { EmulatedBox } from "../src/emulated-box.js";

const provider = local();
let box: EmulatedBox;

beforeAll(async () => {
  box = await EmulatedBox.create(provider, {});
});
afterAll(() => box.destroy());

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: BoxExit;
}

async function outcome(process: BoxProcess): Promise<Outcome> {
  const output = { stdout: "", stderr: "" };
  for await (const { stream, bytes } of process.output()) output[stream] += bytes.toString("latin1");
  return { ...output, exit: await process.exited };
}

function bash(script: string, options: { stdin?: boolean; pty?: { rows: number; columns: number } } = {}) {
  const argv = ["/bin/bash", "-c", script];
  return box.start({ argv, cwd: box.home, env: { WORD: "up" }, stdin: options.stdin ?? false, pty: options.pty });
}

describe("a program in an emulated box", () => {
  it("gives both streams and its exit code", async () => {
    const result = await outcome(await bash('echo "$WORD $PWD"; echo down >&2; exit 7'));
    expect(result).toEqual({ stdout: `up ${box.home}\n`, stderr: "down\n", exit: { code: 7, signal: null } });
  });

  it("reads what is written, to its end", async () => {
    const process = await bash("wc -c", { stdin: true });
    const result = outcome(process);
    await process.write(Buffer.alloc(3_000_000));
    await process.closeStdin();
    expect((await result).stdout.trim()).toBe("3000000");
  });

  it("has its pid, and a signal reaches it alone", async () => {
    const process = await bash("echo $$; sleep 1 & wait");
    const result = outcome(process);
    await setTimeout(100);
    await process.signal("SIGKILL");
    const { stdout, exit } = await result;
    expect(Number(stdout)).toBe(process.pid);
    expect(exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("ends only when a child has let go of its pipes", async () => {
    const { stdout, exit } = await outcome(await bash("(sleep 0.3; echo late) & echo early"));
    expect(stdout).toBe("early\nlate\n");
    expect(exit.code).toBe(0);
  });

  it("has a terminal of the given size, which can be changed", async () => {
    const process = await bash("stty -echo; stty size; read -r _; stty size; tty", { pty: { rows: 24, columns: 80 } });
    let written = "";
    for await (const { bytes } of process.output()) {
      written += bytes.toString();
      if (written !== "24 80\r\n") continue;
      await process.resize({ rows: 40, columns: 100 });
      process.write(Buffer.from("go\n"));
    }
    expect(written).toMatch(/^24 80\r\n40 100\r\n\/dev\/pts\/\d+\r\n$/);
  });

  it("is refused with the reason when it cannot start", async () => {
    const missing = { argv: ["/no/such"], cwd: box.home, env: {}, stdin: false };
    const refused = await box.start(missing).catch((error) => error);
    expect(refused).toBeInstanceOf(BoxStartError);
    expect(refused).toMatchObject({ what: "program", errno: "ENOENT" });
    expect(await box.start({ ...missing, cwd: "/no/where" }).catch((error) => error)).toMatchObject({
      what: "cwd",
      errno: "ENOENT",
    });
  });

  it("carries 30 MB exactly", async () => {
    const process = await bash("head -c 30000000 /dev/zero");
    let size = 0;
    for await (const { bytes } of process.output()) size += bytes.length;
    expect(size).toBe(30_000_000);
  });

  it("stands still while frozen", async () => {
    const process = await bash("while :; do echo >> ticks; sleep 0.01; done");
    const result = outcome(process);
    const ticks = async () => ((await box.files.exists("ticks")) ? (await box.files.stat("ticks")).size : 0);
    await expect.poll(ticks).toBeGreaterThan(0);
    await box.freeze();
    const before = await ticks();
    await setTimeout(300);
    expect(await ticks()).toBe(before);
    await box.thaw();
    await expect.poll(ticks).toBeGreaterThan(before);
    await process.signal("SIGKILL");
    await result;
  });

  it("may end all that runs in the box, which then runs others", async () => {
    // It may be gone before its start is told.
    const ended = bash("sleep 50 & kill -9 0; sleep 50").then(async (process) => {
      for await (const _ of process.output()) expect.unreachable("it writes nothing");
      return process.exited;
    });
    await expect(ended).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    const { stdout } = await outcome(await bash("echo again"));
    expect(stdout).toBe("again\n");
  });

  it("is ended with everything that grew from it, also after its own end", async () => {
    const process = await bash("setsid sleep 51 >/dev/null 2>&1 & echo $!");
    const { stdout } = await outcome(process);
    await process.signalTree("SIGKILL");
    const { stdout: left } = await outcome(await bash(`sleep 0.1; ps -o pid= -p ${stdout.trim()} || echo none`));
    expect(left).toBe("none\n");
  });

  it("is reached at a port", async () => {
    const process = await bash("exec python3 -u -m http.server 18731 --bind 127.0.0.1");
    const result = outcome(process);
    await mkdir(`${box.home}/web`, { recursive: true });
    let connection = await box.connect(18731);
    while (!connection) {
      await setTimeout(50);
      connection = await box.connect(18731);
    }
    connection.end("GET / HTTP/1.0\r\n\r\n");
    expect(await text(connection)).toContain("200 OK");
    expect(await box.connect(18732)).toBeNull();
    await process.signal("SIGKILL");
    await result;
  });
});
