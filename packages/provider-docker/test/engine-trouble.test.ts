import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { attachSandbox, createSandbox, type Sandbox } from "@sandkit/core";
import type Dockerode from "dockerode";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { containersWith, describeOnEngine, engine, testImages } from "./engine.js";

const provider = docker({ images: testImages });

async function withSandbox(use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await createSandbox(provider, {});
  try {
    await use(sandbox);
  } finally {
    await sandbox.destroy();
  }
}

describeOnEngine("creation", () => {
  it("that is aborted in any phase rejects with the reason and leaves nothing", { timeout: 60_000 }, async () => {
    for (const delayMs of [0, 5, 15, 30, 60, 120, 200, 300]) {
      const mark = randomUUID();
      const stop = new AbortController();
      const reason = new Error(`after ${delayMs} ms`);
      const creation = createSandbox(provider, { labels: { mark }, signal: stop.signal });
      setTimeout(() => stop.abort(reason), delayMs);
      const outcome = await creation.then(
        (sandbox) => sandbox.destroy().then(() => "created"),
        (error) => error,
      );
      expect([reason, "created"]).toContain(outcome);
      for (let round = 0; (await containersWith(`sandkit.label.mark=${mark}`)).length > 0; round++) {
        expect(round, `aborted after ${delayMs} ms`).toBeLessThan(100);
        await pause(50);
      }
    }
  });

  it("of an image that is nowhere is NOT_FOUND, with what to do", async () => {
    const never = docker({ pull: "never" });
    await expect(createSandbox(never, { image: "no-such/image:1" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("docker pull no-such/image:1"),
    });
  });

  it("with a runtime that the engine lacks is UNAVAILABLE, with what to install", async () => {
    const gvisor = docker({ images: testImages, runtime: "runsc-none" });
    expect(gvisor.capabilities.isolation).toBe("gvisor");
    await expect(createSandbox(gvisor, {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: expect.stringContaining("runsc install"),
    });
    expect(await gvisor.check()).toMatchObject({ ok: false, fix: expect.any(Array) });
  });

  it("with more processors than the engine has names the option, and how many there are", async () => {
    const { NCPU: processors } = await engine.info();
    const message = expect.stringMatching(`"cpus".* is ${processors + 1}, .* at most ${processors}$`);
    const refused = { code: "INVALID", operation: "create", message };
    const cpus = processors + 1;
    await expect(createSandbox(provider, { resources: { cpus } })).rejects.toMatchObject(refused);
    await expect(createSandbox(docker({ images: testImages, cpus }), {})).rejects.toMatchObject(refused);
  });

  it("of an image with volumes gives them a bound", async () => {
    const container = await engine.createContainer({ Image: testImages.python, Cmd: ["true"] });
    const { Id } = await container.commit({ changes: "VOLUME /data" });
    await container.remove();
    try {
      const sandbox = await createSandbox(provider, { image: Id });
      const { stdout } = await sandbox.exec(
        "grep ' /data ' /proc/mounts; dd if=/dev/zero of=/data/x bs=1M count=8 2>&1",
      );
      expect(stdout.text).toMatch(/^tmpfs \/data tmpfs/);
      expect(stdout.text).toContain("No space left");
      await sandbox.destroy();
    } finally {
      await engine.getImage(Id).remove({ force: true });
    }
  });
});

describeOnEngine("a sandbox that somebody else removes", () => {
  it("is SANDBOX_LOST in mid call, gone for everybody, and no trouble to destroy", async () => {
    await withSandbox(async (sandbox) => {
      const running = sandbox.exec("sleep 60");
      const settled = expect(running).rejects.toMatchObject({ code: "SANDBOX_LOST" });
      await pause(100);
      const [id = ""] = await containersWith(`sandkit.id=${sandbox.ref.id}`);
      await engine.getContainer(id).remove({ force: true });
      await settled;
      await expect(sandbox.files.list("/")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
      expect((await sandbox.info()).state).toBe("gone");
      await expect(attachSandbox(provider, sandbox.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  });

  it("is no trouble when that happens while it is destroyed", async () => {
    await withSandbox(async (sandbox) => {
      const [id = ""] = await containersWith(`sandkit.id=${sandbox.ref.id}`);
      const removal = engine
        .getContainer(id)
        .remove({ force: true })
        .catch(() => undefined);
      await Promise.all([sandbox.destroy(), removal]);
      expect(await containersWith(`sandkit.id=${sandbox.ref.id}`)).toEqual([]);
    });
  });
});

describeOnEngine("a detached sandbox", () => {
  it("of one name is made once, however many ask for it at one time", async () => {
    const name = `race-${randomUUID()}`;
    const others = [provider, docker({ images: testImages }), docker({ images: testImages })];
    const lifetime = { detached: true };
    const made = await Promise.all(others.map((other) => createSandbox(other, { name, lifetime })));
    expect(new Set(made.map(({ ref }) => ref.id)).size).toBe(1);
    await expect(createSandbox(provider, { name, lifetime, env: { A: "1" } })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(createSandbox(provider, { name })).rejects.toMatchObject({ code: "CONFLICT" });
    await made[0]?.destroy();
    const next = await createSandbox(provider, { name, lifetime });
    expect(next.ref.id).not.toBe(made[0]?.ref.id);
    // A handle on the one that is gone does not reach the one that has its name now.
    await made[1]?.destroy();
    expect((await next.exec("echo lives")).stdout.text).toBe("lives\n");
    // One that ends just while it is being joined is made anew.
    const { container } = next.native<{ container: Dockerode.Container }>();
    const [anew] = await Promise.all([
      createSandbox(docker({ images: testImages }), { name, lifetime }),
      container.remove({ force: true }),
    ]);
    expect(anew.ref.id).not.toBe(next.ref.id);
    expect((await anew.exec("echo anew")).stdout.text).toBe("anew\n");
    await anew.destroy();
  });

  it("ends by its ttl and by idleness, from inside", async () => {
    const ends = [{ ttlMs: 1_500 }, { idleMs: 1_500 }];
    await Promise.all(
      ends.map(async (end) => {
        const sandbox = await createSandbox(provider, { lifetime: { detached: true, ...end } });
        expect((await sandbox.info()).expiresAt).toBeInstanceOf(Date);
        for (let round = 0; (await containersWith(`sandkit.id=${sandbox.ref.id}`)).length > 0; round++) {
          expect(round).toBeLessThan(200);
          await pause(50);
        }
        await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "EXPIRED" });
      }),
    );
  });

  it("is not what another program's attached one is", async () => {
    await withSandbox(async (sandbox) => {
      const other = docker({ images: testImages });
      await expect(attachSandbox(other, sandbox.ref)).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: expect.stringContaining("lifetime.detached"),
      });
    });
  });
});
