import { setTimeout as pause } from "node:timers/promises";
import { attachSandbox, createSandbox } from "@sandkit/core";
import { E2B } from "e2b";
import { expect, it } from "vitest";
import { badDays, eventually, living } from "../../cloud-emulator/test/bad-days.js";
import { type Cloud, startCloud } from "./cloud.js";

const create = { method: "POST", path: "/v2/sandboxes" } as const;
const input = { path: "/process.Process/SendInput", skip: 6, times: 3 } as const;

/** E2B's own way to a sandbox, as its dashboard or another program has it. */
function vendor({ emulator }: Cloud): E2B {
  return new E2B({ apiKey: emulator.apiKey, apiUrl: emulator.url, sandboxUrl: emulator.url });
}

const start = badDays<Cloud>({
  name: "e2b",
  keyVariable: "E2B_API_KEY",
  async start({ creationMs = 0, ...emulated }) {
    const cloud = await startCloud(emulated);
    if (creationMs > 0) cloud.emulator.faults.add({ ...create, delayMs: creationMs });
    return cloud;
  },
  endByVendor: async (cloud, id) => {
    await vendor(cloud).Sandbox.kill(id);
  },
  pauseByVendor: async (cloud, id) => {
    await vendor(cloud).Sandbox.pause(id);
  },
  create,
  api: /^\/(v2\/)?sandboxes/,
  passing: [
    ["429 with Retry-After", { ...create, status: 429, headers: { "retry-after": "1" } }],
    ["429 without", { ...create, status: 429 }],
    ["503, twice", { ...create, status: 503, times: 2 }],
    ["502", { ...create, status: 502 }],
    ["504", { ...create, status: 504 }],
    ["500", { ...create, status: 500 }],
    ["a connection that breaks before it was heard", { ...create, drop: "before" }],
    ["a connection that breaks after it was done", { ...create, drop: "after" }],
    ["an answer that breaks off", { ...create, drop: { afterBytes: 10 } }],
    ["an answer that is cut short", { ...create, truncateAfterBytes: 10 }],
  ],
  failing: [
    ["RATE_LIMITED", true, { status: 429 }],
    ["UNAVAILABLE", true, { status: 503 }],
    ["UNAVAILABLE", true, { status: 504 }],
    ["AUTH", false, { status: 401, body: { code: 401, message: "expired" } }],
    ["INVALID", false, { status: 400, body: { code: 400, message: "no" } }],
    ["NOT_FOUND", false, { status: 404, body: { code: 404, message: "template 'base' not found" } }],
  ],
  breaks: [
    ["breaks in mid stream", { path: "/process.Process/Start", drop: { afterBytes: 200_000 } }],
    [
      "breaks again and again",
      { path: /^\/process\.Process\/(Start|Connect)/, drop: { afterBytes: 150_000 }, times: 5 },
    ],
    ["ends too early", { path: "/process.Process/Start", truncateAfterBytes: 200_000 }],
    ["loses input", { ...input, drop: "before" }],
    ["loses the word that input has arrived", { ...input, drop: "after" }],
    ["has too many requests", { ...input, status: 429 }],
    ["is closed for a moment", { ...input, status: 502 }],
    ["answers late", { ...input, delayMs: 1_000, times: 2 }],
  ],
  roughStart: [
    { path: "/process.Process/Start", status: 429 },
    { path: "/process.Process/Start", status: 502 },
    { path: "/process.Process/Start", drop: { afterBytes: 100 } },
    { path: "/process.Process/Start", drop: "after" },
  ],
  download: { method: "GET", path: /^\/files/ },
  upload: { method: "POST", path: /^\/files/ },
  marks: [
    Buffer.from(
      "\nSANDKIT-HOST/1 b\n\nSANDKIT-AGENT/1\n\nSANDKIT:0123456789abcdef link {}\n\u0000\u001b[?1049h\u0003\u0004\u001a",
    ),
    Buffer.from([0, 0, 0, 20, 3, 0, 0, 0, 0, 1, 255, 254]),
  ],
  ended: /somebody ended it/,
  keeps: "processes",
});

it("a sandbox whose end is not confirmed is no success", { timeout: 60_000 }, async () => {
  const { emulator, provider } = await start();
  const sandbox = await createSandbox(provider);
  const back = emulator.faults.add({ method: "DELETE", status: 503, times: Infinity });
  await expect(sandbox.destroy()).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: true });
  back();
  await sandbox.destroy();
  expect(await living(provider)).toEqual([]);
});

it("a sandbox that was resumed is the SDK's newest object for it", { timeout: 60_000 }, async () => {
  const { provider } = await start();
  const sandbox = await createSandbox(provider);
  const before = sandbox.native();
  await sandbox.pause();
  await sandbox.resume();
  expect(sandbox.native()).not.toBe(before);
  expect(sandbox.native<{ sandboxId: string }>().sandboxId).toBe(sandbox.ref.id);
});

it("a sandbox that was found paused is watched after its resume, no longer than it runs", {
  timeout: 60_000,
}, async () => {
  const cloud = await start();
  const sandbox = await createSandbox(cloud.provider, { lifetime: { detached: true } });
  await sandbox.pause();
  const found = await attachSandbox(cloud.other(), sandbox.ref);
  const paused = { code: "UNAVAILABLE", message: expect.stringContaining("resume()") };
  const watching = () => found.files.watch(sandbox.workdir)[Symbol.asyncIterator]();
  await expect(watching().next()).rejects.toMatchObject(paused);
  expect((await living(cloud.provider)).map(({ state }) => state)).toEqual(["paused"]);
  await found.resume();
  const changes = watching();
  const first = changes.next();
  await eventually("a change is noticed", async () => {
    await found.files.write(`${sandbox.workdir}/new`, "new");
    return Promise.race([first.then(() => true), pause(100, false)]);
  });
  expect((await first).value.path).toContain(`${sandbox.workdir}/`);

  await changes.return?.();
  const waiting = expect(watching().next()).rejects.toMatchObject(paused);
  await pause(500);
  await vendor(cloud).Sandbox.pause(found.ref.id);
  await waiting;
  await expect(watching().next()).rejects.toMatchObject(paused);
});
