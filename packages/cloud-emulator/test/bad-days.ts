import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Clock, type FaultRule, type Faults, type LoggedRequest } from "@sandkit/cloud-emulator";
import {
  attachSandbox,
  createSandbox,
  type ErrorCode,
  type Provider,
  type Sandbox,
  type SandboxInfo,
} from "@sandkit/core";
import { afterEach, describe, expect, it } from "vitest";

/** An emulated cloud, with the provider for it. */
export interface BadCloud extends AsyncDisposable {
  readonly emulator: {
    readonly faults: Faults;
    readonly requests: readonly LoggedRequest[];
    readonly clock: Clock;
  };
  readonly provider: Provider;
  /** Another one, as another program has it. */
  other(): Provider;
}

/** What a cloud may be started with. */
export interface BadCloudOptions {
  readonly clock?: Clock;
  readonly quota?: number;
  /** How long the creation of a sandbox takes at least, in milliseconds. */
  readonly creationMs?: number;
}

type Named<Rest extends readonly unknown[]> = readonly (readonly [string, ...Rest])[];

/** How the bad days of one cloud are made. */
export interface BadDays<Cloud extends BadCloud> {
  /** Of the provider. */
  readonly name: string;
  /** Leaves out what core alone answers, and the other cloud shows. */
  readonly isBrief?: boolean;
  readonly keyVariable: string;
  start(options: BadCloudOptions): Promise<Cloud>;
  /** The vendor's own way to a sandbox, as its dashboard has it. */
  endByVendor(cloud: Cloud, id: string): Promise<void>;
  pauseByVendor(cloud: Cloud, id: string): Promise<void>;
  readonly create: { readonly method: string; readonly path: string };
  readonly api: RegExp;
  /** What a creation gets over. */
  readonly passing: Named<[FaultRule]>;
  /** What it does not get over, and what that is called. */
  readonly failing: readonly (readonly [ErrorCode, boolean, { status: number; body?: unknown }])[];
  /** What the way to a sandbox survives. */
  readonly breaks: Named<[FaultRule]>;
  /** What its first connection gets over. */
  readonly roughStart: readonly FaultRule[];
  readonly download: Pick<FaultRule, "method" | "path">;
  readonly upload: Pick<FaultRule, "method" | "path">;
  /** What a guest says that speaks as the protocols of this cloud do. */
  readonly marks: readonly Uint8Array[];
  /** Why a sandbox is gone, in the words of its errors. */
  readonly ended: RegExp;
  /** Whether what runs is kept by a pause. */
  readonly keeps: "processes" | "files";
}

const limit = { timeout: 120_000 };
const words = ["日本語", "עברית", "Ελληνικά", "naïve & <b>", "a=b&c=d%20+", "emoji 🦊", "-dash", "x'\"$(id)`"];
const content = Buffer.alloc(3_000_000, "a large file of several lines\n");

function digest(bytes: Uint8Array): string {
  return `${bytes.length}:${createHash("sha256").update(bytes).digest("hex")}`;
}

export async function living(provider: Provider, labels?: Record<string, string>): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of provider.list({ labels })) found.push(info);
  return found;
}

export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; !(await holds()); round++) {
    if (round > 400) throw new Error(`${what}: not in 20 s`);
    await pause(50);
  }
}

/**
 * What every cloud survives, against its emulator over plain processes.
 * @returns starts a cloud that ends with the test, for what is its own
 */
export function badDays<Cloud extends BadCloud>(days: BadDays<Cloud>): (options?: BadCloudOptions) => Promise<Cloud> {
  const clouds: Cloud[] = [];
  afterEach(() => Promise.all(clouds.splice(0).map((cloud) => cloud[Symbol.asyncDispose]())));
  const start = async (options: BadCloudOptions = {}): Promise<Cloud> => {
    const cloud = await days.start(options);
    clouds.push(cloud);
    return cloud;
  };
  describe("a creation", limit, () => creations(days, start));
  if (!days.isBrief) describe("a name", limit, () => names(start));
  if (!days.isBrief) describe("the way to a sandbox", limit, () => ways(days, start));
  describe("a large file", limit, () => largeFiles(days, start));
  if (!days.isBrief) describe("a sandbox", limit, () => sandboxes(days, start));
  return start;
}

type Start<Cloud> = (options?: BadCloudOptions) => Promise<Cloud>;

function creations<Cloud extends BadCloud>({ create, ...days }: BadDays<Cloud>, start: Start<Cloud>): void {
  it.each(days.passing)("gets over %s, and makes one sandbox", async (_, fault) => {
    const { emulator, provider } = await start({ creationMs: 200 });
    emulator.faults.add(fault);
    const sandbox = await createSandbox(provider);
    expect(emulator.faults.pending).toBe(0);
    expect((await living(provider)).map(({ ref }) => ref)).toEqual([sandbox.ref]);
    expect((await sandbox.exec("echo made")).stdout.text).toBe("made\n");
  });

  it("waits for as long as it is told to", async () => {
    const { emulator, provider } = await start();
    emulator.faults.add({ ...create, status: 429, headers: { "retry-after": "2" } });
    await createSandbox(provider);
    const asked = emulator.requests.filter(({ method, path }) => method === create.method && path === create.path);
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_900);
  });

  it.each(days.failing)("that never gets through is %s, and leaves nothing", async (code, retryable, fault) => {
    const { emulator, provider } = await start();
    emulator.faults.add({ ...create, ...fault, times: Infinity });
    await expect(createSandbox(provider)).rejects.toMatchObject({ code, retryable, provider: days.name });
    expect(await living(provider)).toEqual([]);
  });

  it("that takes too long is TIMEOUT, and what comes of it later is ended", async () => {
    const { emulator, provider } = await start({ creationMs: 1_500 });
    const creation = createSandbox(provider, { createTimeoutMs: 300 });
    await expect(creation).rejects.toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("300 ms") });
    await eventually("the late sandbox is ended", () =>
      emulator.requests.some(({ method, status = 0 }) => method === "DELETE" && status < 300),
    );
    await eventually("and gone", async () => (await living(provider)).length === 0);
  });

  it("that is aborted at any time leaves nothing", async () => {
    const { provider } = await start();
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
    const { provider } = await start({ quota: 1 });
    const first = await createSandbox(provider);
    await expect(createSandbox(provider)).rejects.toMatchObject({ code: "QUOTA", retryable: true });
    await first.destroy();
    await createSandbox(provider);
  });
}

function names<Cloud extends BadCloud>(start: Start<Cloud>): void {
  it("is given to one sandbox, however many programs ask for it at one time, and to a paused one that it resumes", async () => {
    const cloud = await start();
    const asked = { name: "race", lifetime: { detached: true } };
    const programs = [cloud.provider, cloud.other(), cloud.other()];
    const [sandbox, ...others] = await Promise.all(programs.map((provider) => createSandbox(provider, asked)));
    if (!sandbox) throw new Error("none was made");
    expect(others.map(({ ref }) => ref)).toEqual([sandbox.ref, sandbox.ref]);
    expect((await living(cloud.provider)).map(({ ref }) => ref)).toEqual([sandbox.ref]);
    await expect(createSandbox(cloud.provider, { ...asked, env: { A: "1" } })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await sandbox.files.write("file", "kept");
    await sandbox.pause();
    const again = await createSandbox(cloud.other(), asked);
    expect(again.ref).toEqual(sandbox.ref);
    expect(await again.files.readText("file")).toBe("kept");
  });
}

function ways<Cloud extends BadCloud>(days: BadDays<Cloud>, start: Start<Cloud>): void {
  it.each(days.breaks)("that %s loses and doubles no byte", async (_, fault) => {
    const { emulator, provider } = await start();
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
    const { emulator, provider } = await start();
    for (const fault of days.roughStart) emulator.faults.add(fault);
    const sandbox = await createSandbox(provider);
    expect((await sandbox.exec("echo there")).stdout.text).toBe("there\n");
    expect(emulator.faults.pending).toBe(0);
  });

  it("carries 30 MB of output exactly, and keeps what was asked for", async () => {
    const { provider } = await start();
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
    const { provider } = await start();
    const sandbox = await createSandbox(provider);
    const said = Buffer.concat(days.marks);
    await sandbox.files.write("marks", said);
    const { stdout } = await sandbox.exec("cat marks marks; cat marks > /dev/tty 2>/dev/null; cat marks");
    expect(Buffer.from(stdout.bytes)).toEqual(Buffer.concat([said, said, said]));
    expect((await sandbox.exec("echo still here")).stdout.text).toBe("still here\n");
  });
}

function largeFiles<Cloud extends BadCloud>({ download, upload }: BadDays<Cloud>, start: Start<Cloud>): void {
  async function withFile(fault: FaultRule, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
    const { emulator, provider } = await start();
    const sandbox = await createSandbox(provider);
    await sandbox.files.write("large", content);
    emulator.faults.add(fault);
    await use(sandbox);
    expect(emulator.faults.pending).toBe(0);
  }

  it.each([
    ["breaks off", { drop: { afterBytes: 500_000 } }],
    ["ends too early", { truncateAfterBytes: 500_000 }],
  ])("whose download %s is no shorter file", async (_, fault) => {
    await withFile({ ...download, ...fault } as FaultRule, async (sandbox) => {
      const read = await sandbox.files.read("large").then(digest, (error) => error.code);
      expect(["TRANSPORT", "UNAVAILABLE", digest(content)]).toContain(read);
      expect(digest(await sandbox.files.read("large"))).toBe(digest(content));
    });
  });

  it("whose upload breaks off leaves the old one", async () => {
    await withFile({ ...upload, drop: "before" }, async (sandbox) => {
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
}

function sandboxes<Cloud extends BadCloud>(days: BadDays<Cloud>, start: Start<Cloud>): void {
  it("that somebody ends in mid exec is SANDBOX_LOST, with the reason", async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider);
    const lost = { code: "SANDBOX_LOST", retryable: false, message: expect.stringMatching(days.ended) };
    const running = [sandbox.exec("sleep 60"), sandbox.runCode("import time; time.sleep(60)")];
    const outcomes = running.map((call) => expect(call).rejects.toMatchObject(lost));
    await sandbox.exec("true");
    await days.endByVendor(cloud, sandbox.ref.id);
    await Promise.all(outcomes);
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    expect((await sandbox.info()).state).toBe("gone");
    await expect(attachSandbox(cloud.provider, sandbox.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await sandbox.destroy();
  });

  it("that somebody pauses under our feet says so, and goes on after resume with what is kept", async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider);
    await sandbox.files.write("kept", "kept");
    const running = sandbox.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done").catch(({ code }) => code);
    await pause(700);
    await days.pauseByVendor(cloud, sandbox.ref.id);
    await eventually("it is found paused", () =>
      sandbox.files.list(".").then(
        () => false,
        ({ code, message }) => code === "UNAVAILABLE" && message.includes("resume()"),
      ),
    );
    expect((await sandbox.info()).state).toBe("paused");
    await sandbox.resume();
    if (days.keeps === "files") expect(await running).toBe("SANDBOX_LOST");
    else {
      const { reason, exitCode, stdout } = await running;
      expect([reason, exitCode, stdout.text]).toEqual(["exited", 0, "1\n2\n3\n4\n5\n6\n"]);
    }
    expect(await sandbox.files.readText("kept")).toBe("kept");
    expect((await sandbox.exec("echo awake")).stdout.text).toBe("awake\n");
  });

  it("that is paused is not woken by who finds it", async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider, { lifetime: { detached: true }, labels: { a: "b" } });
    await sandbox.files.write("kept", "kept");
    await sandbox.pause();
    const found = await attachSandbox(cloud.other(), sandbox.ref);
    expect(await found.info()).toMatchObject({ state: "paused", origin: "attached", labels: { a: "b" } });
    await expect(found.files.readText("kept")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("resume()"),
    });
    expect((await living(cloud.provider)).map(({ state }) => state)).toEqual(["paused"]);
    await found.resume();
    expect((await found.info()).state).toBe("running");
    expect(found.workdir).toBe(sandbox.workdir);
    expect(await found.files.readText("kept")).toBe("kept");
    await found.destroy();
    expect(await living(cloud.provider)).toEqual([]);
  });

  it("is ended once by however many end it, and by its vendor before us too", async () => {
    const cloud = await start({ creationMs: 300 });
    const sandbox = await createSandbox(cloud.provider);
    const other = await attachSandbox(cloud.other(), sandbox.ref);
    // A vendor may refuse who comes second.
    const theirs = days.endByVendor(cloud, sandbox.ref.id).catch(() => undefined);
    await Promise.all([theirs, sandbox.destroy(), other.destroy(), sandbox.destroy()]);
    await sandbox.destroy();
    expect(await living(cloud.provider)).toEqual([]);
  });

  it("of a key that expires goes on with what runs, and says AUTH for what needs the key", async () => {
    const { emulator, provider } = await start();
    const sandbox = await createSandbox(provider);
    const expired = { status: 401, body: { code: 401, message: "expired" } };
    emulator.faults.add({ path: days.api, ...expired, times: Infinity });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const refused = { code: "AUTH", message: expect.stringContaining(days.keyVariable) };
    await expect(sandbox.info()).rejects.toMatchObject(refused);
    await expect(createSandbox(provider)).rejects.toMatchObject(refused);
    await expect(living(provider)).rejects.toMatchObject(refused);
    await expect(provider.check()).resolves.toMatchObject({ ok: false, fix: expect.any(Array) });
    emulator.faults.clear();
  });

  it("lives and ends when it should at a service whose clock is an hour ahead", async () => {
    const clock = new Clock();
    await clock.advance(3_600_000);
    const { provider } = await start({ clock });
    const sandbox = await createSandbox(provider, { lifetime: { ttlMs: 4_000 } });
    expect((await sandbox.exec("echo lives")).stdout.text).toBe("lives\n");
    const { expiresAt, createdAt } = await sandbox.info();
    expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
    await eventually("its end", async () => (await sandbox.info()).state === "gone");
    await eventually("its end at the vendor's", async () => (await living(provider)).length === 0);
  });

  it("has labels, environment and files with names in every script", async () => {
    const { provider } = await start();
    const labels = Object.fromEntries(words.map((word) => [word, `${word}!`]));
    const sandbox = await createSandbox(provider, { labels, env: { WORD: words.join("|") } });
    expect((await sandbox.info()).labels).toEqual(labels);
    const found = await living(provider, labels);
    expect(found.map(({ ref, labels: listed }) => ({ ref, labels: listed }))).toEqual([{ ref: sandbox.ref, labels }]);
    for (const word of words) await sandbox.files.write(`names/${word}`, word);
    const listed = (await sandbox.files.list("names")).map(({ path }) => path.split("/").at(-1));
    expect(listed.sort()).toEqual([...words].sort());
    expect((await sandbox.exec('printf %s "$WORD"')).stdout.text).toBe(words.join("|"));
    for (const name of ["plain", "names/大きい", 'quo"te', "new\nline"]) {
      await sandbox.files.write(name, content);
      expect(digest(await sandbox.files.read(name)), name).toBe(digest(content));
    }
  });
}
