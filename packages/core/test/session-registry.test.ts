import { describe, expect, it, vi } from "vitest";
import { capabilities } from "../src/capabilities.js";
import type { ProcessExit, ProviderSession } from "../src/provider.js";
import { SessionRegistry } from "../src/session-registry.js";

const nothing = capabilities({ isolation: "none", features: {} });
const closed = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });

/** The least that a session can be, at the border of the contract. */
function session(id: string) {
  let exit: (exit: ProcessExit) => void = () => undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    exit = resolve;
  });
  const state = { lost: false };
  const destroy = vi.fn(async () => undefined);
  const files = {} as ProviderSession["files"];
  for (const name of ["read", "write", "list", "stat", "mkdir", "move", "remove"] as const) {
    files[name] = vi.fn(async () => undefined as never);
  }
  const made: ProviderSession = {
    ref: { provider: "test", id },
    workdir: "/w",
    capabilities: nothing,
    files,
    destroy,
    spawn: async () => ({
      id: "1",
      pid: 1,
      stdout: closed(),
      stderr: closed(),
      write: async () => undefined,
      closeStdin: async () => undefined,
      kill: async () => undefined,
      exited,
      gone: exited.then(() => undefined),
    }),
    info: async () => ({
      ref: { provider: "test", id },
      state: state.lost ? "gone" : "running",
      origin: "created",
      createdAt: new Date(),
      labels: {},
      shells: [],
      interpreters: [],
    }),
  };
  return { made, destroy, state, exit: () => exit({ exitCode: 0 }) };
}

describe("SessionRegistry", () => {
  it("gives the living session of a name, and makes a new one after its end", async () => {
    const registry = new SessionRegistry("test");
    const make = async ({ id }: { id: string }) => session(id).made;
    const first = await registry.create({ name: "a" }, make);
    const again = await registry.create({ name: "a" }, make);
    expect(again.ref).toEqual(first.ref);
    expect((await again.info()).origin).toBe("attached");
    await first.destroy();
    expect((await registry.create({ name: "a" }, make)).ref).not.toEqual(first.ref);
  });

  it("makes one session for two creates of a name at the same time", async () => {
    const registry = new SessionRegistry("test");
    const make = vi.fn(async ({ id }: { id: string }) => session(id).made);
    const [a, b] = await Promise.all([registry.create({ name: "a" }, make), registry.create({ name: "a" }, make)]);
    expect(a.ref).toEqual(b.ref);
    expect(make).toHaveBeenCalledOnce();
  });

  it("holds to its quota: those that live by name are given, those that died make room", async () => {
    const registry = new SessionRegistry("test", { most: 1, option: "most" });
    let made: ReturnType<typeof session> | undefined;
    const make = async ({ id }: { id: string }) => {
      made = session(id);
      return made.made;
    };
    const [one, other] = await Promise.allSettled([registry.create({}, make), registry.create({}, make)]);
    expect([one.status, other.status]).toEqual(["fulfilled", "rejected"]);
    await expect(registry.create({ name: "a" }, make)).rejects.toMatchObject({ code: "QUOTA" });
    if (made) made.state.lost = true;
    const named = await registry.create({ name: "a" }, make);
    expect((await registry.create({ name: "a" }, make)).ref).toEqual(named.ref);
    await expect(registry.create({}, make)).rejects.toMatchObject({ code: "QUOTA" });
  });

  it("refuses a name that lives with other options, whatever the order of keys", async () => {
    const registry = new SessionRegistry("test");
    const make = async ({ id }: { id: string }) => session(id).made;
    await registry.create({ name: "a", env: { X: "1", Y: "2" } }, make);
    await registry.create({ name: "a", env: { Y: "2", X: "1" } }, make);
    await expect(registry.create({ name: "a", env: { X: "2", Y: "2" } }, make)).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });

  it("forgets a session that died by itself", async () => {
    const registry = new SessionRegistry("test");
    const lost = session("x");
    const made = await registry.create({ name: "a" }, async () => lost.made);
    lost.state.lost = true;
    const [entry] = [made.ref];
    expect(await registry.attach(entry)).toBeNull();
    const next = await registry.create({ name: "a" }, async ({ id }) => session(id).made);
    expect(next.ref.id).not.toBe("x");
  });

  it("forgets a session that could not be made", async () => {
    const registry = new SessionRegistry("test");
    await expect(registry.create({ name: "a" }, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(registry.create({ name: "a" }, async ({ id }) => session(id).made)).resolves.toBeDefined();
  });

  it("lists by labels", async () => {
    const registry = new SessionRegistry("test");
    const make = async ({ id }: { id: string }) => session(id).made;
    await registry.create({ labels: { team: "a", tier: "1" } }, make);
    await registry.create({ labels: { team: "b" } }, make);
    const found: unknown[] = [];
    for await (const info of registry.list({ labels: { team: "a" } })) found.push(info.labels);
    expect(found).toEqual([{ team: "a", tier: "1" }]);
  });

  it("lists the others while a creation fails", async () => {
    const registry = new SessionRegistry("test");
    await registry.create({}, async () => session("x").made);
    const failing = registry.create({}, () => new Promise((_, reject) => setTimeout(reject, 20, new Error("no room"))));
    failing.catch(() => undefined);
    const found: string[] = [];
    for await (const { ref } of registry.list()) found.push(ref.id);
    expect(found).toHaveLength(1);
    await expect(failing).rejects.toThrow("no room");
  });

  it("ends a session at its ttl and says so", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy } = session("x");
    const guarded = await registry.create({ lifetime: { ttlMs: 30 } }, async () => made);
    await vi.waitFor(() => expect(destroy).toHaveBeenCalledOnce());
    await expect(guarded.files.stat("/a", { followSymlinks: true })).rejects.toMatchObject({ code: "EXPIRED" });
    expect((await guarded.info()).state).toBe("gone");
  });

  it("moves the end with extend", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy } = session("x");
    const guarded = await registry.create({ lifetime: { ttlMs: 60 } }, async () => made);
    await guarded.extend?.(10_000);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(destroy).not.toHaveBeenCalled();
    await guarded.destroy();
  });

  it("does not end a session as idle while a command runs", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy, exit } = session("x");
    const guarded = await registry.create({ lifetime: { idleMs: 40 } }, async () => made);
    await guarded.spawn(["x"], { stdin: false });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(destroy).not.toHaveBeenCalled();
    exit();
    await vi.waitFor(() => expect(destroy).toHaveBeenCalledOnce());
  });

  it("keeps a session that could not be destroyed, for another try", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy } = session("x");
    destroy.mockRejectedValueOnce(new Error("still there"));
    const guarded = await registry.create({ name: "a" }, async () => made);
    await expect(guarded.destroy()).rejects.toThrow("still there");
    const next = await registry.create({ name: "a" }, async ({ id }) => session(id).made);
    expect(next.ref.id).not.toBe("x");
    await guarded.destroy();
    expect(destroy).toHaveBeenCalledTimes(2);
  });

  it("counts every piece of a file that is read as use", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy } = session("x");
    const pieces = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array(1)) },
      { highWaterMark: 0 },
    );
    made.files.read = async () => pieces;
    const guarded = await registry.create({ lifetime: { idleMs: 200 } }, async () => made);
    const reader = (await guarded.files.read("/x")).getReader();
    for (let at = 0; at < 8; at += 1) {
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(destroy).not.toHaveBeenCalled();
    await reader.cancel();
    await guarded.destroy();
  });

  it("counts use that no call shows", async () => {
    const registry = new SessionRegistry("test");
    const { made, destroy } = session("x");
    let use: () => void = () => undefined;
    made.onUse = (listener) => {
      use = listener;
    };
    const guarded = await registry.create({ lifetime: { idleMs: 200 } }, async () => made);
    for (let at = 0; at < 8; at += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      use();
    }
    expect(destroy).not.toHaveBeenCalled();
    await guarded.destroy();
    use();
    expect(destroy).toHaveBeenCalledOnce();
  });
});
