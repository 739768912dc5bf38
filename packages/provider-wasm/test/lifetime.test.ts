import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";
import { childrenOf, innermost, lives } from "./processes.js";

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    if (waited > 15_000) throw new Error("it did not come about in 15 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A sandbox, and the process that holds it. */
async function started(hardening: "portable" | "auto") {
  const before = new Set(childrenOf());
  const sandbox = await createSandbox(wasm({ hardening, codeCache: false }), {});
  const [outer = ""] = childrenOf().filter((child) => !before.has(child));
  return { sandbox, pid: innermost(outer) };
}

const uses = [
  ["a cell with a deadline", (sandbox: Sandbox) => sandbox.runCode("1", { timeoutMs: 500 })],
  ["a program with a deadline", (sandbox: Sandbox) => sandbox.exec(["python3", "-V"], { timeoutMs: 500 })],
  ["a look at its files", (sandbox: Sandbox) => sandbox.files.list("/")],
] as const;
const levels = ["portable", "auto"] as const;
describe.runIf(process.platform === "linux").each(levels)("the child process, hardening %s", (hardening) => {
  it("is gone when destroy resolves, also when it is destroyed twice", async () => {
    const { sandbox, pid } = await started(hardening);
    expect(lives(pid)).toBe(true);
    await Promise.all([sandbox.destroy(), sandbox.destroy()]);
    await sandbox.destroy();
    expect(lives(pid)).toBe(false);
  });

  it("when it dies takes the sandbox with it: every call is SANDBOX_LOST, info says gone", async () => {
    const { sandbox, pid } = await started(hardening);
    const running = await sandbox.spawn(["python3", "-c", "import time; time.sleep(60)"]);
    const cell = sandbox.runCode("import time; time.sleep(60)");
    const settled = [running.wait(), cell].map((work) => expect(work).rejects.toMatchObject({ code: "SANDBOX_LOST" }));
    // What was listed while it lived is no answer afterwards.
    await sandbox.files.list("/");
    process.kill(Number(pid), "SIGKILL");
    await Promise.all(settled);
    // A wall may tell of it in its own way.
    const message = expect.stringMatching(hardening === "portable" ? /SIGKILL/ : /SIGKILL|exit code/);
    for (const call of [
      sandbox.files.list("/"),
      sandbox.files.write("a", "b"),
      sandbox.exec(["python3", "-V"]),
      sandbox.runCode("1"),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "SANDBOX_LOST", message });
    }
    expect((await sandbox.info()).state).toBe("gone");
    await sandbox.destroy();
  });

  // Each takes as long as its silence does; behind a wall one tells what three would.
  it.each(hardening === "portable" ? uses : uses.slice(0, 1))(
    "is taken for lost when it is frozen: %s does not wait for ever",
    { timeout: 60_000 },
    async (_, use) => {
      const { sandbox, pid } = await started(hardening);
      await sandbox.runCode("1");
      process.kill(Number(pid), "SIGSTOP");
      await expect(use(sandbox)).rejects.toMatchObject({ code: "SANDBOX_LOST" });
      await until(() => !lives(pid));
      await sandbox.destroy();
    },
  );

  it("ends with its parent, though its guest is busy", async () => {
    const owner = spawn(process.execPath, [new URL("owner.mjs", import.meta.url).pathname, hardening], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const outer = await new Promise<string>((resolve) =>
      owner.stdout.once("data", (bytes) => resolve(`${bytes}`.trim())),
    );
    const pid = innermost(outer);
    expect(lives(pid)).toBe(true);
    owner.kill("SIGKILL");
    await until(() => !lives(pid));
  }, 40_000);

  it("does not keep a program alive that forgot to destroy", async () => {
    const url = new URL("../dist/index.js", import.meta.url).href;
    const code = `import { wasm } from ${JSON.stringify(url)}; const session = await wasm({ hardening: ${JSON.stringify(hardening)} }).create({}); console.log((await session.files.list("/")).length);`;
    const program = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    expect(await new Promise((resolve) => program.on("exit", resolve))).toBe(0);
  }, 40_000);

  it("has no environment and does not start in the caller's directory", async () => {
    const { sandbox, pid } = await started(hardening);
    // Node's channel to its parent is all there is, and where it starts.
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .filter(Boolean)
      .map((pair) => pair.split("=")[0]);
    expect(names.filter((name) => !/^(?:NODE_CHANNEL.*|PWD)$/.test(name ?? ""))).toEqual([]);
    expect(realpathSync(`/proc/${pid}/cwd`)).toBe(realpathSync(`/proc/${pid}/root`));
    await sandbox.destroy();
  });
});

describe("interpreters", () => {
  it("do not repeat one another's random numbers", async () => {
    const sandbox = await createSandbox(wasm(), {});
    const program =
      "import random, uuid, secrets, tempfile; print(random.random(), uuid.uuid4(), secrets.token_hex(8), tempfile.mktemp())";
    const runs = await Promise.all([1, 2, 3].map(() => sandbox.exec(["python3", "-c", program])));
    const words = runs.flatMap(({ stdout }) => stdout.text.trim().split(" "));
    expect(words).toHaveLength(12);
    expect(new Set(words).size).toBe(12);
    await sandbox.destroy();
  });

  it("pass 100 MB through with little memory of the caller", async () => {
    const sandbox = await createSandbox(wasm({ diskMiB: 200 }), {});
    const size = 100_000_000;
    const chunk = new Uint8Array(1_000_000).fill(7);
    let sent = 0;
    let peak = 0;
    const watch = () => {
      peak = Math.max(peak, process.memoryUsage().rss);
    };
    const start = process.memoryUsage().rss;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        watch();
        sent += chunk.length;
        controller.enqueue(chunk);
        if (sent >= size) controller.close();
      },
    });
    await sandbox.files.write("big", source);
    let received = 0;
    for await (const bytes of await sandbox.files.readStream("big")) {
      received += bytes.length;
      watch();
    }
    expect(received).toBe(size);
    expect((peak - start) / 1e6).toBeLessThan(90);
    const sum = await sandbox.runCode(
      "import zlib\ntotal = 0\nwith open('big', 'rb') as f:\n    while block := f.read(10**6): total += len(block) * block[0]\ntotal",
    );
    expect(sum.value).toBe(7 * size);
    await sandbox.destroy();
  }, 90_000);
});
