import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Daytona } from "@daytonaio/sdk";
import { Clock, type FaultRule } from "@sandkit/cloud-emulator";
import { attachSandbox, createSandbox, type Provider, type SandboxInfo } from "@sandkit/core";
import { afterEach, describe, expect, it } from "vitest";
import { daytonaAt, type Emulated, emulated } from "./emulated.js";

const open: Emulated[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]())));

async function onCloud(...options: Parameters<typeof emulated>): Promise<Emulated> {
  const one = await emulated(...options);
  open.push(one);
  return one;
}

/** Daytona's own way to a sandbox, as its dashboard has it. */
function vendor({ cloud }: Emulated): Daytona {
  return new Daytona({ apiKey: cloud.apiKey, apiUrl: cloud.url, target: "us", useDeprecatedPolling: true });
}

async function living(provider: Provider): Promise<SandboxInfo[]> {
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

const digest = (bytes: Uint8Array) => `${bytes.length}:${createHash("sha256").update(bytes).digest("hex")}`;
const create = { method: "POST", path: "/api/sandbox" } as const;
const look = { method: "GET", path: /^\/api\/sandbox\/[^/]+$/ } as const;
const limit = { timeout: 120_000 };

describe("a creation", limit, () => {
  const passing: readonly (readonly [string, FaultRule])[] = [
    ["429 with retry-after", { ...create, status: 429, headers: { "retry-after-sandbox-create": "1" } }],
    ["429 without", { ...create, status: 429 }],
    ["500", { ...create, status: 500 }],
    ["502", { ...create, status: 502, body: "<html>a page of a proxy</html>" }],
    ["503, twice", { ...create, status: 503, times: 2 }],
    ["504", { ...create, status: 504 }],
    ["a connection that breaks before it was heard", { ...create, drop: "before" }],
    ["a connection that breaks after it was done", { ...create, drop: "after" }],
    ["an answer that breaks off", { ...create, drop: { afterBytes: 20 } }],
    ["a proxy in trouble while it is waited for", { ...look, status: 502 }],
    ["a limit of requests while it is waited for", { ...look, status: 429 }],
  ];
  it.each(passing)("gets over %s, and makes one sandbox", async (_, fault) => {
    const one = await onCloud({ quirks: { stateDelayMs: 200 } });
    one.cloud.faults.add(fault);
    const sandbox = await createSandbox(one.provider);
    expect(one.cloud.faults.pending).toBe(0);
    expect((await living(one.provider)).map(({ ref }) => ref)).toEqual([sandbox.ref]);
    expect((await sandbox.exec("echo made")).stdout.text).toBe("made\n");
  });

  it("waits for as long as it is told to", async () => {
    const { cloud, provider } = await onCloud();
    cloud.faults.add({ ...create, status: 429, headers: { "retry-after": "2" } });
    await createSandbox(provider);
    const [first, second] = cloud.requests.filter(({ method, path }) => method === "POST" && path === "/api/sandbox");
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_900);
  });

  it.each([
    ["RATE_LIMITED", true, { status: 429 }],
    ["UNAVAILABLE", true, { status: 503 }],
    ["AUTH", false, { status: 401, body: { message: "expired" } }],
    ["INVALID", false, { status: 400, body: { message: "no" } }],
    ["QUOTA", true, { status: 403, body: { message: "Total CPU limit exceeded. Maximum allowed: 4." } }],
  ] as const)("that never gets through is %s, and leaves nothing", async (code, retryable, fault) => {
    const { cloud, provider } = await onCloud();
    cloud.faults.add({ ...create, ...fault, times: Infinity });
    await expect(createSandbox(provider)).rejects.toMatchObject({ code, retryable, provider: "daytona" });
    expect(await living(provider)).toEqual([]);
  });

  it("that takes too long is TIMEOUT, and what comes of it later is ended", async () => {
    const { cloud, provider } = await onCloud({ quirks: { stateDelayMs: 1_500 } });
    const creation = createSandbox(provider, { createTimeoutMs: 300 });
    await expect(creation).rejects.toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("300 ms") });
    await eventually("the late sandbox is ended", () =>
      cloud.requests.some(({ method, status }) => method === "DELETE" && status === 200),
    );
    await eventually("and gone", async () => (await living(provider)).length === 0);
  });

  it("of an image that cannot be built fails, and leaves nothing", async () => {
    const { provider } = await onCloud();
    const creation = createSandbox(provider, { image: "no-such/image:1" });
    await expect(creation).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("build") });
    expect(await living(provider)).toEqual([]);
  });

  it("that is aborted at any time leaves nothing", async () => {
    const { provider } = await onCloud();
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
    await eventually("they are gone", async () => (await living(provider)).length === 0);
  });

  it("above the quota is QUOTA, and there is room again after a destroy", async () => {
    const { provider } = await onCloud({ quota: 1 });
    const first = await createSandbox(provider);
    await expect(createSandbox(provider)).rejects.toMatchObject({ code: "QUOTA", retryable: true });
    await first.destroy();
    await createSandbox(provider);
  });
});

describe("a name", limit, () => {
  it("is given to one sandbox, however many programs ask for it at one time", async () => {
    const one = await onCloud();
    const programs = [one.provider, daytonaAt(one.cloud), daytonaAt(one.cloud)];
    const name = `race-${randomUUID()}`;
    const made = await Promise.all(programs.map((provider) => createSandbox(provider, { name })));
    expect(new Set(made.map(({ ref }) => ref.id)).size).toBe(1);
    await expect(createSandbox(one.provider, { name, env: { A: "1" } })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("of a sandbox that Sandkit has not made is a CONFLICT, and that one is left alone", async () => {
    const one = await onCloud();
    const other = await vendor(one).create({ name: "theirs" });
    await expect(createSandbox(one.provider, { name: "theirs" })).rejects.toMatchObject({ code: "CONFLICT" });
    await other.refreshData();
    expect(other.state).toBe("started");
  });

  it("of a stopped sandbox starts it", async () => {
    const one = await onCloud();
    const sandbox = await createSandbox(one.provider, { name: "kept", lifetime: { detached: true } });
    await sandbox.files.write("file", "kept");
    await sandbox.pause();
    const again = await createSandbox(daytonaAt(one.cloud), { name: "kept", lifetime: { detached: true } });
    expect(again.ref).toEqual(sandbox.ref);
    expect(await again.files.readText("file")).toBe("kept");
  });
});

describe("the way to a sandbox", limit, () => {
  const terminal = /\/process\/pty\/(create-connect|[^/]+\/connect)/;
  const breaks: readonly (readonly [string, FaultRule])[] = [
    ["breaks in mid stream", { path: /create-connect/, drop: { afterBytes: 200_000 } }],
    ["breaks again and again", { path: terminal, drop: { afterBytes: 150_000 }, times: 5 }],
    ["ends too early", { path: /create-connect/, truncateAfterBytes: 200_000 }],
  ];
  it.each(breaks)("that %s loses and doubles no byte", async (_, fault) => {
    const { cloud, provider } = await onCloud();
    cloud.faults.add(fault);
    const sandbox = await createSandbox(provider);
    const data = Buffer.alloc(400_000, "0123456789abcdef\n");
    for (let round = 0; round < 2; round++) {
      const { stdout, exitCode } = await sandbox.exec("tee copy; sleep 0.1; cat copy", { stdin: data });
      expect(exitCode).toBe(0);
      expect(digest(stdout.bytes)).toBe(digest(Buffer.concat([data, data])));
    }
    expect(cloud.faults.pending).toBe(0);
  });

  it("that is refused at first is tried again", async () => {
    const { cloud, provider } = await onCloud();
    cloud.faults.add({ path: /create-connect/, status: 502 });
    cloud.faults.add({ path: /create-connect/, drop: "before" });
    const sandbox = await createSandbox(provider);
    expect((await sandbox.exec("echo there")).stdout.text).toBe("there\n");
    expect(cloud.faults.pending).toBe(0);
  });

  it("carries 30 MB of output exactly, and keeps what was asked for", async () => {
    const { provider } = await onCloud();
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

  it("is not confused by a program that speaks as protocols here do", async () => {
    const { provider } = await onCloud();
    const sandbox = await createSandbox(provider);
    const said = Buffer.concat([
      Buffer.from(
        "\nSANDKIT-AGENT/1\n\nSANDKIT:0123456789abcdef link {}\n\u0001\u0001\u0001out\u0002\u0002\u0002err\n",
      ),
      Buffer.from('{"type":"control","status":"exited","exitCode":0}\u0000\u0003\u0004\u001a'),
      Buffer.from([0, 0, 0, 20, 3, 0, 0, 0, 0, 1, 255, 254]),
    ]);
    await sandbox.files.write("marks", said);
    const { stdout } = await sandbox.exec("cat marks marks; cat marks > /dev/tty 2>/dev/null; cat marks");
    expect(Buffer.from(stdout.bytes)).toEqual(Buffer.concat([said, said, said]));
    expect((await sandbox.exec("echo still here")).stdout.text).toBe("still here\n");
  });
});

describe("a large file", limit, () => {
  const content = Buffer.alloc(3_000_000, "a large file of several lines\n");

  it.each([
    ["breaks off", { path: /bulk-download/, drop: { afterBytes: 500_000 } }],
    ["ends too early", { path: /bulk-download/, truncateAfterBytes: 500_000 }],
  ] as const)("whose download %s is no shorter file", async (_, fault) => {
    const { cloud, provider } = await onCloud();
    const sandbox = await createSandbox(provider);
    await sandbox.files.write("large", content);
    cloud.faults.add(fault);
    const read = await sandbox.files.read("large").then(digest, (error) => error.code);
    expect(["TRANSPORT", "UNAVAILABLE", digest(content)]).toContain(read);
    expect(cloud.faults.pending).toBe(0);
    expect(digest(await sandbox.files.read("large"))).toBe(digest(content));
  });

  it("whose upload breaks off leaves the old one", async () => {
    const { cloud, provider } = await onCloud();
    const sandbox = await createSandbox(provider);
    await sandbox.files.write("large", content);
    cloud.faults.add({ path: /bulk-upload/, drop: "before" });
    const write = sandbox.files.write("large", Buffer.alloc(2_000_000, "x"));
    const outcome = await write.then(
      () => 2_000_000,
      () => 3_000_000,
    );
    expect((await sandbox.files.stat("large")).size).toBe(outcome);
  });

  it("goes by the SDK's streams, under any name", async () => {
    const { cloud, provider } = await onCloud();
    const sandbox = await createSandbox(provider);
    for (const name of ["plain", "大きい", 'quo"te', "new\nline"]) {
      await sandbox.files.write(name, content);
      expect(digest(await sandbox.files.read(name)), name).toBe(digest(content));
    }
    const asked = (path: string) => cloud.requests.filter((one) => one.path.endsWith(path)).length;
    expect([asked("/files/bulk-upload"), asked("/files/bulk-download")]).toEqual([4, 1]);
  });
});

describe("a sandbox", limit, () => {
  it("that somebody removes in mid exec is SANDBOX_LOST, with the reason", async () => {
    const one = await onCloud();
    const sandbox = await createSandbox(one.provider);
    const lost = { code: "SANDBOX_LOST", message: expect.stringMatching(/Daytona has it no more|at Daytona/) };
    const running = [sandbox.exec("sleep 60"), sandbox.runCode("import time; time.sleep(60)")];
    const outcomes = running.map((call) => expect(call).rejects.toMatchObject(lost));
    await sandbox.exec("true");
    await (await vendor(one).get(sandbox.ref.id)).delete();
    await Promise.all(outcomes);
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect((await sandbox.info()).state).toBe("gone");
    await expect(attachSandbox(one.provider, sandbox.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await sandbox.destroy();
  });

  it("that somebody stops under our feet says so, and has its files after resume", async () => {
    const one = await onCloud();
    const sandbox = await createSandbox(one.provider);
    await sandbox.files.write("kept", "kept");
    const running = sandbox.exec("sleep 60").catch((error) => error.code);
    await sandbox.exec("true");
    await (await vendor(one).get(sandbox.ref.id)).stop();
    await eventually("it is found stopped", () =>
      sandbox.files.list(".").then(
        () => false,
        ({ code }) => code === "UNAVAILABLE" || code === "SANDBOX_LOST",
      ),
    );
    expect((await sandbox.info()).state).toBe("paused");
    expect(["UNAVAILABLE", "SANDBOX_LOST"]).toContain(await running);
    await sandbox.resume();
    expect(await sandbox.files.readText("kept")).toBe("kept");
  });

  it("that is stopped is not started by who finds it", async () => {
    const one = await onCloud();
    const sandbox = await createSandbox(one.provider, { lifetime: { detached: true }, labels: { a: "b" } });
    await sandbox.files.write("kept", "kept");
    await sandbox.pause();
    const found = await attachSandbox(daytonaAt(one.cloud), sandbox.ref);
    expect(await found.info()).toMatchObject({ state: "paused", origin: "attached", labels: { a: "b" } });
    await expect(found.files.readText("kept")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("resume()"),
    });
    expect((await living(one.provider)).map(({ state }) => state)).toEqual(["paused"]);
    await found.resume();
    expect(await found.files.readText("kept")).toBe("kept");
    await found.destroy();
    expect(await living(one.provider)).toEqual([]);
  });

  it("that rests is kept for a week, and one that nobody renews ends with its lease", async () => {
    const one = await onCloud();
    const rests = await createSandbox(one.provider);
    await rests.pause();
    await one.cloud.clock.advance(6 * 24 * 3_600_000);
    expect((await living(one.provider)).map(({ state }) => state)).toEqual(["paused"]);
    await one.cloud.clock.advance(2 * 24 * 3_600_000);
    expect(await living(one.provider)).toEqual([]);

    const runs = await createSandbox(one.provider);
    expect((await runs.info()).state).toBe("running");
    await one.cloud.clock.advance(11 * 60_000);
    expect(await living(one.provider)).toEqual([]);
  });

  it("is ended once by however many end it, and by Daytona before us too", async () => {
    const one = await onCloud({ quirks: { stateDelayMs: 300 } });
    const sandbox = await createSandbox(one.provider);
    const other = await attachSandbox(daytonaAt(one.cloud), sandbox.ref);
    const theirs = await vendor(one).get(sandbox.ref.id);
    await Promise.all([theirs.delete(), sandbox.destroy(), other.destroy(), sandbox.destroy()]);
    await sandbox.destroy();
    expect(await living(one.provider)).toEqual([]);
  });

  it("whose removal is refused while its state changes is removed all the same", async () => {
    const one = await onCloud();
    const sandbox = await createSandbox(one.provider);
    one.cloud.faults.add({ method: "DELETE", status: 409, body: { message: "state change in progress" }, times: 3 });
    await sandbox.destroy();
    expect(await living(one.provider)).toEqual([]);
  });

  it("of a key that expires goes on with what runs, and says AUTH for what needs the key", async () => {
    const { cloud, provider } = await onCloud();
    const sandbox = await createSandbox(provider);
    cloud.faults.add({ path: /^\/api\//, status: 401, body: { message: "expired" }, times: Infinity });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const refused = { code: "AUTH", message: expect.stringContaining("DAYTONA_API_KEY") };
    await expect(sandbox.info()).rejects.toMatchObject(refused);
    await expect(createSandbox(provider)).rejects.toMatchObject(refused);
    await expect(living(provider)).rejects.toMatchObject(refused);
    await expect(provider.check()).resolves.toMatchObject({ ok: false, fix: expect.any(Array) });
    cloud.faults.clear();
  });

  it("lives and ends when it should at a service whose clock is an hour ahead", async () => {
    const clock = new Clock();
    await clock.advance(3_600_000);
    const { provider } = await onCloud({ clock });
    const sandbox = await createSandbox(provider, { lifetime: { ttlMs: 4_000 } });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const { expiresAt, createdAt } = await sandbox.info();
    expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
    await eventually("its end", async () => (await sandbox.info()).state === "gone");
    await eventually("its end at Daytona", async () => (await living(provider)).length === 0);
  });

  it("has labels, environment and files with names in every script", async () => {
    const { provider } = await onCloud();
    const words = ["日本語", "עברית", "Ελληνικά", "naïve & <b>", "a=b&c=d%20+", "emoji 🦊", "-dash", "x'\"$(id)`"];
    const labels = Object.fromEntries(words.map((word) => [word, `${word}!`]));
    const sandbox = await createSandbox(provider, { labels, env: { WORD: words.join("|") } });
    expect((await sandbox.info()).labels).toEqual(labels);
    const found: unknown[] = [];
    for await (const { ref, labels: listed } of provider.list({ labels })) found.push({ ref, labels: listed });
    expect(found).toEqual([{ ref: sandbox.ref, labels }]);
    for (const word of words) await sandbox.files.write(`names/${word}`, word);
    const names = (await sandbox.files.list("names")).map(({ path }) => path.split("/").at(-1));
    expect(names.sort()).toEqual([...words].sort());
    expect((await sandbox.exec('printf %s "$WORD"')).stdout.text).toBe(words.join("|"));
  });

  it("is listed though the list breaks between two pages", async () => {
    const { cloud, provider } = await onCloud();
    const made = await Promise.all([1, 2].map(() => createSandbox(provider)));
    cloud.faults.add({ method: "GET", path: /^\/api\/sandbox\?/, status: 503 });
    const ids = (await living(provider)).map(({ ref }) => ref.id);
    expect(ids.sort()).toEqual(made.map(({ ref }) => ref.id).sort());
  });
});
