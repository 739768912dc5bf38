import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Clock, type FaultRule } from "@sandkit/cloud-emulator";
import { attachSandbox, createSandbox, type Provider, type Sandbox, type SandboxInfo } from "@sandkit/core";
import { E2B } from "e2b";
import { afterEach, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

const clouds: Cloud[] = [];
afterEach(() => Promise.all(clouds.splice(0).map((cloud) => cloud[Symbol.asyncDispose]())));

async function cloudWith(...options: Parameters<typeof startCloud>): Promise<Cloud> {
  const cloud = await startCloud(...options);
  clouds.push(cloud);
  return cloud;
}

/** E2B's own way to a sandbox, as its dashboard or another program has it. */
function vendor({ emulator }: Cloud): E2B {
  return new E2B({ apiKey: emulator.apiKey, apiUrl: emulator.url, sandboxUrl: emulator.url });
}

async function all(provider: Provider): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of provider.list()) found.push(info);
  return found;
}

async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; !(await holds()); round++) {
    if (round > 400) throw new Error(`${what}: not in 20 s`);
    await pause(50);
  }
}

const create = { method: "POST", path: "/v2/sandboxes" } as const;
const limitMs = { timeout: 120_000 };

describe("a creation", limitMs, () => {
  const passing: readonly (readonly [string, FaultRule])[] = [
    ["429 with Retry-After", { ...create, status: 429, headers: { "retry-after": "1" } }],
    ["429 without", { ...create, status: 429 }],
    ["503", { ...create, status: 503, times: 2 }],
    ["502", { ...create, status: 502 }],
    ["504", { ...create, status: 504 }],
    ["500", { ...create, status: 500 }],
    ["a connection that breaks before it was heard", { ...create, drop: "before" }],
    ["a connection that breaks after it was done", { ...create, drop: "after" }],
    ["an answer that breaks off", { ...create, drop: { afterBytes: 10 } }],
    ["an answer that is cut short", { ...create, truncateAfterBytes: 10 }],
  ];
  it.each(passing)("gets over %s, and makes one sandbox", async (_, fault) => {
    const cloud = await cloudWith();
    cloud.emulator.faults.add(fault);
    const sandbox = await createSandbox(cloud.provider);
    expect(cloud.emulator.faults.pending).toBe(0);
    expect((await all(cloud.provider)).map(({ ref }) => ref)).toEqual([sandbox.ref]);
    expect((await sandbox.exec("echo made")).stdout.text).toBe("made\n");
  });

  it("waits for as long as Retry-After says", async () => {
    const { emulator, provider } = await cloudWith();
    emulator.faults.add({ ...create, status: 429, headers: { "retry-after": "2" } });
    await createSandbox(provider);
    const [first, second] = emulator.requests.filter(
      ({ method, path }) => `${method} ${path}` === "POST /v2/sandboxes",
    );
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_900);
  });

  it.each([
    ["RATE_LIMITED", true, { status: 429 }],
    ["UNAVAILABLE", true, { status: 503 }],
    ["UNAVAILABLE", true, { status: 504 }],
    ["AUTH", false, { status: 401, body: { code: 401, message: "expired" } }],
    ["INVALID", false, { status: 400, body: { code: 400, message: "no" } }],
    ["NOT_FOUND", false, { status: 404, body: { code: 404, message: "template 'base' not found" } }],
  ])("that never gets through is %s, and leaves nothing", async (code, retryable, fault) => {
    const { emulator, provider } = await cloudWith();
    emulator.faults.add({ ...create, ...fault, times: Infinity });
    await expect(createSandbox(provider)).rejects.toMatchObject({ code, retryable, provider: "e2b" });
    expect(await all(provider)).toEqual([]);
  });

  it("that takes too long is TIMEOUT, and what comes of it later is ended", async () => {
    const { emulator, provider } = await cloudWith();
    emulator.faults.add({ ...create, delayMs: 1_500 });
    const creation = createSandbox(provider, { createTimeoutMs: 300 });
    await expect(creation).rejects.toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("300 ms") });
    await eventually("the late sandbox is made", () => hasAsked(emulator.requests, "POST", "/v2/sandboxes", 201));
    await eventually("and ended", async () => (await all(provider)).length === 0);
  });

  it("that is aborted at any time leaves nothing", async () => {
    const { provider } = await cloudWith();
    for (const delayMs of [0, 20, 60, 150, 400, 800]) {
      const stop = new AbortController();
      const reason = new Error(`after ${delayMs} ms`);
      const creation = createSandbox(provider, { signal: stop.signal });
      setTimeout(() => stop.abort(reason), delayMs);
      const outcome = await creation.then(
        (sandbox) => sandbox.destroy().then(() => "created"),
        (error) => error,
      );
      expect([reason, "created"]).toContain(outcome);
    }
    await eventually("they are gone", async () => (await all(provider)).length === 0);
  });

  it("above the quota is QUOTA, and there is room again after a destroy", async () => {
    const { provider } = await cloudWith({ quota: 1 });
    const first = await createSandbox(provider);
    await expect(createSandbox(provider)).rejects.toMatchObject({ code: "QUOTA", retryable: true });
    await first.destroy();
    await createSandbox(provider);
  });
});

function hasAsked(requests: Cloud["emulator"]["requests"], method: string, path: string, status?: number): boolean {
  return requests.some((one) => one.method === method && one.path === path && (!status || one.status === status));
}

describe("the way to a sandbox", limitMs, () => {
  const breaks: readonly (readonly [string, FaultRule])[] = [
    ["breaks in mid stream", { path: "/process.Process/Start", drop: { afterBytes: 200_000 } }],
    [
      "breaks again and again",
      { path: /^\/process\.Process\/(Start|Connect)/, drop: { afterBytes: 150_000 }, times: 5 },
    ],
    ["ends too early", { path: "/process.Process/Start", truncateAfterBytes: 200_000 }],
    ["loses input", { path: "/process.Process/SendInput", drop: "before", skip: 6, times: 3 }],
    ["loses the word that input has arrived", { path: "/process.Process/SendInput", drop: "after", skip: 6, times: 3 }],
    ["has too many requests", { path: "/process.Process/SendInput", status: 429, skip: 6, times: 3 }],
    ["is closed for a moment", { path: "/process.Process/SendInput", status: 502, skip: 6, times: 3 }],
    ["answers late", { path: "/process.Process/SendInput", delayMs: 1_000, skip: 6, times: 2 }],
  ];
  it.each(breaks)("that %s loses and doubles no byte", async (_, fault) => {
    const { emulator, provider } = await cloudWith();
    emulator.faults.add(fault);
    const sandbox = await createSandbox(provider);
    const data = Buffer.alloc(400_000, "0123456789abcdef\n");
    for (let round = 0; round < 2; round++) {
      const { stdout, exitCode } = await sandbox.exec("tee copy; sleep 0.1; cat copy", { stdin: data });
      expect(exitCode).toBe(0);
      expect(digest(stdout.bytes)).toBe(digest(Buffer.concat([data, data])));
    }
    expect(emulator.faults.pending).toBe(0);
  });

  it("that starts on a bad day is tried again", async () => {
    const { emulator, provider } = await cloudWith();
    for (const status of [429, 502]) emulator.faults.add({ path: "/process.Process/Start", status });
    emulator.faults.add({ path: "/process.Process/Start", drop: { afterBytes: 100 } });
    emulator.faults.add({ path: "/process.Process/Start", drop: "after" });
    const sandbox = await createSandbox(provider);
    expect((await sandbox.exec("echo there")).stdout.text).toBe("there\n");
    expect(emulator.faults.pending).toBe(0);
  });

  it("carries 30 MB of output exactly, and keeps what was asked for", async () => {
    const { provider } = await cloudWith();
    const sandbox = await createSandbox(provider);
    const hash = createHash("sha256");
    const program = "head -c 30000000 /dev/urandom | tee copy; sha256sum copy | cut -d ' ' -f 1 >&2";
    const { stdout, stderr } = await sandbox.exec(program, {
      maxOutputBytes: 1_000,
      onOutput: ({ stream, bytes }) => {
        if (stream === "stdout") hash.update(bytes);
      },
    });
    expect(stdout).toMatchObject({ totalBytes: 30_000_000, truncated: true });
    expect(stderr.text.trim()).toBe(hash.digest("hex"));
  });

  it("is not confused by a program that speaks as our own protocols do", async () => {
    const { provider } = await cloudWith();
    const sandbox = await createSandbox(provider);
    const marks =
      "\nSANDKIT-HOST/1 b\n\nSANDKIT-AGENT/1\n\nSANDKIT:0123456789abcdef link {}\n\u0000\u001b[?1049h\u0003\u0004\u001a";
    const said = Buffer.concat([Buffer.from(marks), Buffer.from([0, 0, 0, 20, 3, 0, 0, 0, 0, 1, 255, 254])]);
    await sandbox.files.write("marks", said);
    const { stdout } = await sandbox.exec("cat marks marks; cat marks > /dev/tty 2>/dev/null; cat marks");
    expect(Buffer.from(stdout.bytes)).toEqual(Buffer.concat([said, said, said]));
    expect((await sandbox.exec("echo still here")).stdout.text).toBe("still here\n");
  });
});

function digest(bytes: Uint8Array): string {
  return `${bytes.length}:${createHash("sha256").update(bytes).digest("hex")}`;
}

describe("a large file", limitMs, () => {
  const content = Buffer.alloc(3_000_000, "a large file of several lines\n");

  async function withFile(fault: FaultRule, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    const { emulator, provider } = await cloudWith();
    const sandbox = await createSandbox(provider);
    await sandbox.files.write("large", content);
    emulator.faults.add(fault);
    await use(sandbox);
  }

  it.each([
    ["breaks off", { method: "GET", path: /^\/files/, drop: { afterBytes: 500_000 } }],
    ["ends too early", { method: "GET", path: /^\/files/, truncateAfterBytes: 500_000 }],
  ])("whose download %s is no shorter file", async (_, fault) => {
    await withFile(fault, async (sandbox) => {
      const read = await sandbox.files.read("large").then(digest, (error) => error.code);
      expect(["TRANSPORT", "UNAVAILABLE", digest(content)]).toContain(read);
      expect(digest(await sandbox.files.read("large"))).toBe(digest(content));
    });
  });

  it("whose upload breaks off leaves the old one", async () => {
    await withFile({ method: "POST", path: /^\/files/, drop: "before" }, async (sandbox) => {
      const outcome = await sandbox.files.write("large", Buffer.alloc(2_000_000, "x")).then(
        () => "written",
        (error) => error.code,
      );
      const size = (await sandbox.files.stat("large")).size;
      expect([
        ["TRANSPORT", 3_000_000],
        ["UNAVAILABLE", 3_000_000],
        ["written", 2_000_000],
      ]).toContainEqual([outcome, size]);
    });
  });
});

describe("a sandbox", limitMs, () => {
  it("that somebody ends in mid exec is SANDBOX_LOST, with the reason", async () => {
    const cloud = await cloudWith();
    const sandbox = await createSandbox(cloud.provider);
    const running = sandbox.exec("sleep 60");
    const cell = sandbox.runCode("import time; time.sleep(60)");
    const lost = { code: "SANDBOX_LOST", retryable: false, message: expect.stringContaining("somebody ended it") };
    const outcomes = [expect(running).rejects.toMatchObject(lost), expect(cell).rejects.toMatchObject(lost)];
    await pause(500);
    await vendor(cloud).Sandbox.kill(sandbox.ref.id);
    await Promise.all(outcomes);
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect((await sandbox.info()).state).toBe("gone");
    await expect(attachSandbox(cloud.provider, sandbox.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await sandbox.destroy();
  });

  it("that somebody pauses under our feet says so, and its work goes on after resume", async () => {
    const cloud = await cloudWith();
    const sandbox = await createSandbox(cloud.provider);
    const running = sandbox.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done");
    await pause(700);
    await vendor(cloud).Sandbox.pause(sandbox.ref.id);
    await eventually("it is found paused", () =>
      sandbox.files.list(".").then(
        () => false,
        ({ code, message }) => code === "UNAVAILABLE" && message.includes("resume()"),
      ),
    );
    expect((await sandbox.info()).state).toBe("paused");
    await sandbox.resume();
    const { reason, exitCode, stdout } = await running;
    expect([reason, exitCode, stdout.text]).toEqual(["exited", 0, "1\n2\n3\n4\n5\n6\n"]);
    expect((await sandbox.exec("echo awake")).stdout.text).toBe("awake\n");
  });

  it("that is paused is not woken by who finds it", async () => {
    const cloud = await cloudWith();
    const sandbox = await createSandbox(cloud.provider, { lifetime: { detached: true }, labels: { a: "b" } });
    await sandbox.files.write("kept", "kept");
    await sandbox.pause();
    const found = await attachSandbox(cloud.other(), sandbox.ref);
    expect(await found.info()).toMatchObject({ state: "paused", origin: "attached", labels: { a: "b" } });
    await expect(found.files.readText("kept")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("resume()"),
    });
    const paused = { code: "UNAVAILABLE", message: expect.stringContaining("resume()") };
    const watching = () => found.files.watch(sandbox.workdir)[Symbol.asyncIterator]();
    await expect(watching().next()).rejects.toMatchObject(paused);
    expect((await all(cloud.provider)).map(({ state }) => state)).toEqual(["paused"]);
    await found.resume();
    expect((await found.info()).state).toBe("running");
    const changes = watching();
    const first = changes.next();
    await eventually("a change is noticed", async () => {
      await found.files.write(`${sandbox.workdir}/new`, "new");
      return Promise.race([first.then(() => true), pause(100, false)]);
    });
    expect((await first).value.path).toContain(`${sandbox.workdir}/`);
    // Of one iteration nobody takes what comes now; another one tells when all has come.
    const last = (async () => {
      for await (const { path } of found.files.watch(sandbox.workdir)) if (path.endsWith("/last")) return;
    })();
    await pause(500);
    const many = "for i in range(2700): open('many', 'w').close(); __import__('os').unlink('many')\nopen('last', 'w')";
    await found.exec(["python3", "-c", many]);
    await last;
    await pause(200);
    const taking = async () => {
      for (;;) if ((await changes.next()).value.path.endsWith("/last")) return "all of them";
    };
    await expect(taking()).rejects.toMatchObject({ code: "TOO_LARGE" });
    const until = watching();
    const waiting = expect(until.next()).rejects.toMatchObject(paused);
    await pause(500);
    await vendor(cloud).Sandbox.pause(found.ref.id);
    await waiting;
    await expect(watching().next()).rejects.toMatchObject(paused);
    await found.resume();
    await found.destroy();
    expect(await all(cloud.provider)).toEqual([]);
  });

  it("is ended once by however many end it, and by E2B before us too", async () => {
    const cloud = await cloudWith();
    const sandbox = await createSandbox(cloud.provider);
    const other = await attachSandbox(cloud.other(), sandbox.ref);
    await Promise.all([
      sandbox.destroy(),
      other.destroy(),
      sandbox.destroy(),
      vendor(cloud).Sandbox.kill(sandbox.ref.id),
    ]);
    await sandbox.destroy();
    expect(await all(cloud.provider)).toEqual([]);
  });

  it("whose end is not confirmed is no success", async () => {
    const { emulator, provider } = await cloudWith();
    const sandbox = await createSandbox(provider);
    const back = emulator.faults.add({ method: "DELETE", status: 503, times: Infinity });
    await expect(sandbox.destroy()).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: true });
    back();
    await sandbox.destroy();
    expect(await all(provider)).toEqual([]);
  });

  it("of a key that expires goes on with what runs, and says AUTH for what needs the key", async () => {
    const { emulator, provider } = await cloudWith();
    const sandbox = await createSandbox(provider);
    emulator.faults.add({
      path: /^\/(v2\/)?sandboxes/,
      status: 401,
      body: { code: 401, message: "expired" },
      times: Infinity,
    });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const refused = { code: "AUTH", message: expect.stringContaining("E2B_API_KEY") };
    await expect(sandbox.info()).rejects.toMatchObject(refused);
    await expect(createSandbox(provider)).rejects.toMatchObject(refused);
    await expect(all(provider)).rejects.toMatchObject(refused);
    await expect(provider.check()).resolves.toMatchObject({ ok: false });
    emulator.faults.clear();
  });

  it("lives and ends when it should at a service whose clock is an hour ahead", async () => {
    const clock = new Clock();
    await clock.advance(3_600_000);
    const { provider } = await cloudWith({ clock });
    const sandbox = await createSandbox(provider, { lifetime: { ttlMs: 4_000 } });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const { expiresAt, createdAt } = await sandbox.info();
    expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
    await eventually("its end", async () => (await sandbox.info()).state === "gone");
    await eventually("its end at E2B", async () => (await all(provider)).length === 0);
  });

  it("has labels, environment and files with names in every script", async () => {
    const { provider } = await cloudWith();
    const words = ["日本語", "עברית", "Ελληνικά", "naïve & <b>", "a=b&c=d%20+", "emoji 🦊", "-dash", "x'\"$(id)`"];
    const labels = Object.fromEntries(words.map((word) => [word, `${word}!`]));
    const sandbox = await createSandbox(provider, { labels, env: { WORD: words.join("|") } });
    expect((await sandbox.info()).labels).toEqual(labels);
    const found: SandboxInfo[] = [];
    for await (const info of provider.list({ labels })) found.push(info);
    expect(found.map(({ ref, labels }) => ({ ref, labels }))).toEqual([{ ref: sandbox.ref, labels }]);
    for (const word of words) await sandbox.files.write(`names/${word}`, word);
    expect((await sandbox.files.list("names")).map(({ path }) => path.split("/").at(-1)).sort()).toEqual(
      [...words].sort(),
    );
    expect((await sandbox.exec('printf %s "$WORD"')).stdout.text).toBe(words.join("|"));
    await sandbox.files.write("names/大きい", Buffer.alloc(2_000_000, "x"));
    expect((await sandbox.files.read("names/大きい")).length).toBe(2_000_000);
  });
});
