import { setTimeout as pause } from "node:timers/promises";
import { Daytona } from "@daytonaio/sdk";
import { createSandbox } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import { badDays, eventually, living } from "../../cloud-emulator/test/bad-days.js";
import { type Emulated, emulated } from "./emulated.js";

const create = { method: "POST", path: "/api/sandbox" } as const;
const look = { method: "GET", path: /^\/api\/sandbox\/[^/]+$/ } as const;
const connect = /create-connect/;
const terminal = /\/process\/pty\/(create-connect|[^/]+\/connect)/;
const limit = { timeout: 120_000 };

/** Daytona's own way to a sandbox, as its dashboard has it. */
function vendor({ emulator }: Emulated): Daytona {
  return new Daytona({
    apiKey: emulator.apiKey,
    apiUrl: emulator.url,
    target: "us",
    useDeprecatedPolling: true,
  });
}

const start = badDays<Emulated>({
  name: "daytona",
  isBrief: process.env.SANDKIT_TEST_ALL !== "1",
  keyVariable: "DAYTONA_API_KEY",
  start: ({ creationMs: stateDelayMs, ...options }) =>
    emulated({ ...options, ...(stateDelayMs !== undefined && { quirks: { stateDelayMs } }) }),
  endByVendor: async (cloud, id) => (await vendor(cloud).get(id)).delete(),
  pauseByVendor: async (cloud, id) => (await vendor(cloud).get(id)).stop(),
  create,
  api: /^\/api\//,
  passing: [
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
  ],
  failing: [
    ["RATE_LIMITED", true, { status: 429 }],
    ["UNAVAILABLE", true, { status: 503 }],
    ["AUTH", false, { status: 401, body: { message: "expired" } }],
    ["INVALID", false, { status: 400, body: { message: "no" } }],
    ["QUOTA", true, { status: 403, body: { message: "Total CPU limit exceeded. Maximum allowed: 4." } }],
  ],
  breaks: [
    ["breaks in mid stream", { path: connect, drop: { afterBytes: 200_000 } }],
    ["breaks again and again", { path: terminal, drop: { afterBytes: 150_000 }, times: 5 }],
    ["ends too early", { path: connect, truncateAfterBytes: 200_000 }],
  ],
  roughStart: [
    { path: connect, status: 502 },
    { path: connect, drop: "before" },
  ],
  download: { path: /bulk-download/ },
  upload: { path: /bulk-upload/ },
  marks: [
    Buffer.from("\nSANDKIT-AGENT/1\n\nSANDKIT:0123456789abcdef link {}\n\u0001\u0001\u0001out\u0002\u0002\u0002err\n"),
    Buffer.from('{"type":"control","status":"exited","exitCode":0}\u0000\u0003\u0004\u001a'),
    Buffer.from([0, 0, 0, 20, 3, 0, 0, 0, 0, 1, 255, 254]),
  ],
  ended: /Daytona has it no more|at Daytona/,
  keeps: "files",
});

describe("a creation at Daytona", limit, () => {
  it("of an image that cannot be built fails, and leaves nothing", async () => {
    const { provider } = await start();
    const creation = createSandbox(provider, { image: "no-such/image:1" });
    await expect(creation).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("build") });
    expect(await living(provider)).toEqual([]);
  });

  it("that is aborted between two tries leaves nothing", async () => {
    const { emulator, provider } = await start();
    // It was made, but nobody can tell.
    emulator.faults.add({ ...create, drop: "after" });
    emulator.faults.add({ ...look, status: 503, times: 2 });
    const stop = new AbortController();
    const reason = new Error("enough");
    const creation = createSandbox(provider, { signal: stop.signal });
    await eventually("it is looked for", () => emulator.requests.some(({ status }) => status === 503));
    await pause(20);
    stop.abort(reason);
    await expect(creation).rejects.toBe(reason);
    await eventually("it is removed", () => emulator.requests.some(({ method }) => method === "DELETE"));
    await eventually("and gone", async () => (await living(provider)).length === 0);
  });

  it("with the name of a sandbox that Sandkit has not made is a CONFLICT, and that one is left alone", async () => {
    const one = await start();
    const other = await vendor(one).create({ name: "theirs" });
    await expect(createSandbox(one.provider, { name: "theirs" })).rejects.toMatchObject({ code: "CONFLICT" });
    await other.refreshData();
    expect(other.state).toBe("started");
  });
});

describe("a sandbox at Daytona", limit, () => {
  it("that rests is kept for a week, and one that nobody renews ends with its lease", async () => {
    const one = await start();
    const rests = await createSandbox(one.provider);
    await rests.pause();
    // One that could not be woken rests on as long.
    one.emulator.faults.add({ method: "POST", path: /\/start$/, status: 400, body: { message: "no memory left" } });
    await expect(rests.resume()).rejects.toMatchObject({ code: "INVALID" });
    await one.emulator.clock.advance(6 * 24 * 3_600_000);
    expect((await living(one.provider)).map(({ state }) => state)).toEqual(["paused"]);
    await one.emulator.clock.advance(2 * 24 * 3_600_000);
    expect(await living(one.provider)).toEqual([]);

    const runs = await createSandbox(one.provider);
    expect((await runs.info()).state).toBe("running");
    await one.emulator.clock.advance(11 * 60_000);
    expect(await living(one.provider)).toEqual([]);
  });

  it("whose removal is refused while its state changes is removed all the same", async () => {
    const one = await start();
    const sandbox = await createSandbox(one.provider);
    one.emulator.faults.add({ method: "DELETE", status: 409, body: { message: "state change in progress" }, times: 3 });
    await sandbox.destroy();
    expect(await living(one.provider)).toEqual([]);
  });

  it("is listed though the list breaks between two pages", async () => {
    const { emulator, provider } = await start();
    const made = await Promise.all([1, 2].map(() => createSandbox(provider)));
    emulator.faults.add({ method: "GET", path: /^\/api\/sandbox\?/, status: 503 });
    const ids = (await living(provider)).map(({ ref }) => ref.id);
    expect(ids.sort()).toEqual(made.map(({ ref }) => ref.id).sort());
  });
});
