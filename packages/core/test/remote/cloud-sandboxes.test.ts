import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { attachSandbox, createSandbox } from "../../src/create-sandbox.js";
import { deferred } from "../../src/deferred.js";
import { SandboxError } from "../../src/errors.js";
import type { Sandbox } from "../../src/sandbox.js";
import { LocalVendor } from "./local-cloud.js";

const elsewhere = "another-boot/1:42:7";
const shared = { name: "build", lifetime: { detached: true } };
let vendor: LocalVendor;
beforeEach(() => {
  vendor = new LocalVendor();
});
afterEach(() => vendor.end());

/** Ends the agent, as nothing that it tells could. */
async function endAgent(sandbox: Sandbox): Promise<void> {
  const { stdout } = await sandbox.exec("ps -o ppid= -p $PPID");
  process.kill(Number(stdout.text), "SIGKILL");
  await expect.poll(() => sandbox.exec("true").catch(({ code }) => code), { timeout: 10_000 }).toBe("SANDBOX_LOST");
}

const asked = (what: string) => vendor.asked.filter((one) => one === what).length;

it("a named sandbox is had by others once its maker is done, and not before", async () => {
  const reached = deferred<void>();
  const goOn = deferred<void>();
  vendor.onNarrow = async () => {
    reached.resolve();
    await goOn.promise;
  };
  const making = createSandbox(vendor.provider({ narrowsNetwork: true }), shared);
  await reached.promise;
  const second = createSandbox(vendor.provider(), shared);
  const [id = ""] = vendor.machines.keys();
  await expect(attachSandbox(vendor.provider(), { provider: "remote-test", id })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("still being set up"),
  });
  expect(await Promise.race([second, sleep(1_000, "waits")])).toBe("waits");
  goOn.resolve();
  const [one, other] = await Promise.all([making, second]);
  expect(other.ref).toEqual(one.ref);
  expect((await other.exec("echo there")).stdout.text).toBe("there\n");
  expect([(await one.info()).origin, (await other.info()).origin]).toEqual(["created", "attached"]);
});

it("one whose maker fails is made by who waits for it", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  vendor.onNarrow = async (signal) => {
    await sleep(500);
    stop.abort(reason);
    signal?.throwIfAborted();
  };
  const making = createSandbox(vendor.provider({ narrowsNetwork: true }), { ...shared, signal: stop.signal });
  await expect.poll(() => vendor.machines.size).toBe(1);
  const [first = ""] = vendor.machines.keys();
  const second = createSandbox(vendor.provider(), shared);
  await expect(making).rejects.toBe(reason);
  expect((await second).ref.id).not.toBe(first);
  expect([...vendor.machines.keys()]).toEqual([(await second).ref.id]);
});

it("one whose agent has ended is made anew after a grace, and not renewed meanwhile", async () => {
  const first = await createSandbox(vendor.provider(), shared);
  await endAgent(first);
  const second = await createSandbox(vendor.provider(), shared);
  expect([...vendor.machines.keys()]).toEqual([second.ref.id]);

  vendor.giveAway(second.ref.id, elsewhere);
  await endAgent(second);
  const renewed = asked(`extend ${second.ref.id}`);
  const began = performance.now();
  const third = await createSandbox(vendor.provider(), shared);
  expect(performance.now() - began).toBeGreaterThanOrEqual(700);
  expect([...vendor.machines.keys()]).toEqual([third.ref.id]);
  expect(asked(`extend ${second.ref.id}`)).toBe(renewed);

  // Who merely attaches removes nothing.
  await endAgent(third);
  await expect(attachSandbox(vendor.provider(), third.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(vendor.machines.size).toBe(1);
});

it("one that somebody wakes just now, whose next agent is not there yet, is joined and not removed", async () => {
  const first = await createSandbox(vendor.provider(), shared);
  await endAgent(first);
  const { box } = vendor.machines.get(first.ref.id) ?? {};
  const terminals = box?.terminals.length;
  const joining = createSandbox(vendor.provider(), shared);
  await expect.poll(() => box?.terminals.length).not.toBe(terminals);
  if (box) box.state = "paused";
  expect((await joining).ref).toEqual(first.ref);
  expect(asked(`remove ${first.ref.id}`)).toBe(0);
});

it("a creation whose clean-up fails too throws the first error, tells of the second, and renews nothing", async () => {
  vendor.onNarrow = async () => {
    throw new SandboxError("INVALID", "no such network");
  };
  vendor.onRemove = async () => {
    throw new SandboxError("UNAVAILABLE", "the vendor does not answer");
  };
  await expect(createSandbox(vendor.provider({ narrowsNetwork: true, leaseMs: 150 }))).rejects.toMatchObject({
    code: "INVALID",
    message: expect.stringMatching(/^no such network .*still there: the vendor does not answer/),
  });
  const [id] = vendor.machines.keys();
  const renewed = asked(`extend ${id}`);
  await sleep(400);
  expect([asked(`extend ${id}`), vendor.machines.size]).toEqual([renewed, 1]);
  vendor.onRemove = async () => undefined;
});

it("one that is not detached is its program's alone", async () => {
  const sandbox = await createSandbox(vendor.provider(), { name: "own" });
  const again = await createSandbox(vendor.provider(), { name: "own" });
  expect(again.ref).toEqual(sandbox.ref);
  await attachSandbox(vendor.provider(), sandbox.ref);
  vendor.giveAway(sandbox.ref.id, elsewhere);
  await expect(attachSandbox(vendor.provider(), sandbox.ref)).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringMatching(/belongs to the program that made it .*lifetime\.detached/),
  });
  expect((await createSandbox(vendor.provider(), { name: "own" })).ref).not.toEqual(sandbox.ref);
});

it("a copy lives as its original was made to, also one that another client makes", async () => {
  await createSandbox(vendor.provider(), { ...shared, lifetime: { detached: true, ttlMs: 60_000 } });
  const [id = ""] = vendor.machines.keys();
  const found = await attachSandbox(vendor.provider(), { provider: "remote-test", id });
  await found.extend(3_600_000);
  const [copy] = await found.fork();
  const { expiresAt, name } = (await copy?.info()) ?? {};
  expect(name).toBeUndefined();
  expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(50_000);
  expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(60_000);
});

it("one that was found paused knows where it works, and with what, once it is resumed", async () => {
  const sandbox = await createSandbox(vendor.provider(), shared);
  const { workdir } = sandbox;
  await sandbox.pause();
  const found = await attachSandbox(vendor.provider(), sandbox.ref);
  expect(found.workdir).toBe("/nobody/knows");
  await found.resume();
  expect(found.workdir).toBe(workdir);
  await found.files.write("here", "here");
  expect((await found.exec("cat here; pwd")).stdout.text).toBe(`here${workdir}\n`);
});

it("one that is destroyed while it is being woken has no client that renews it", { timeout: 30_000 }, async () => {
  const sandbox = await createSandbox(vendor.provider(), shared);
  await sandbox.pause();
  const found = await attachSandbox(vendor.provider({ leaseMs: 300 }), sandbox.ref);
  const reached = deferred<void>();
  const goOn = deferred<void>();
  vendor.onReach = async () => {
    reached.resolve();
    await goOn.promise;
    return true;
  };
  const waking = found.resume().catch(({ code }) => code);
  await reached.promise;
  const destroying = found.destroy();
  await sleep(50);
  goOn.resolve();
  await Promise.all([waking, destroying]);
  expect(vendor.machines.size).toBe(0);
  const renewed = asked(`extend ${found.ref.id}`);
  await sleep(600);
  expect(asked(`extend ${found.ref.id}`)).toBe(renewed);
  await expect(found.resume()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("one that is there but never reached is UNAVAILABLE after a grace, and not waited for without end", async () => {
  const sandbox = await createSandbox(vendor.provider(), shared);
  vendor.onReach = async () => false;
  const unreached = { code: "UNAVAILABLE", retryable: true, message: expect.stringContaining("was not reached") };
  await expect(attachSandbox(vendor.provider(), sandbox.ref)).rejects.toMatchObject(unreached);
  await expect(createSandbox(vendor.provider(), shared)).rejects.toMatchObject(unreached);
  expect(vendor.machines.size).toBe(1);
  vendor.onReach = async () => true;
  expect((await createSandbox(vendor.provider(), shared)).ref).toEqual(sandbox.ref);
});
