import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSandbox } from "@sandkit/core";
import { testProvider } from "@sandkit/core/conformance";
import { afterAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { testImages } from "./engine.js";
import { PackageIndex } from "./package-index.js";
import { PodmanEngine, podmanIsThere } from "./podman-engine.js";
import { runInContainer } from "./run-in-container.js";

/** Where Podman's API is not Docker's; the rest is the same agent in the same box. */
const where = [
  ...["create", "info", "destroy", "list", "detached", "check"].map((group) => `lifecycle.${group}`),
  ...["exec.argv", "exec.exit-code", "stdin.bytes", "network.none", "network.allowlist", "network.ports", "resources"],
  ...["kill.process", "kill.abort.daemon"],
  ...["kill.timeout.double-fork", "files.atomic", "files.permissions", "output.limit.kill"],
  ...["lifecycle.snapshot", "lifecycle.fork"],
];

const podman = podmanIsThere
  ? await PodmanEngine.start([testImages.python, testImages.node, testImages.busybox])
  : undefined;
const host = podman?.host;
afterAll(() => podman?.remove(), 60_000);

if (podman) {
  await testProvider({
    provider: () => docker({ host, images: testImages, pull: "never" }),
    only: process.env.SANDKIT_TEST_ALL === "1" ? undefined : where,
    timeouts: { factor: 2 },
  });
}

describe.skipIf(!podman)("on Podman", () => {
  const provider = docker({ host, images: testImages, pull: "never" });
  const left = async () => (await podman?.dockerode.listContainers({ all: true }))?.map(({ Names }) => Names);

  it("check tells what it is", async () => {
    const { ok, detail, facts } = await provider.check();
    expect({ ok, detail }).toEqual({ ok: true, detail: expect.stringMatching(/^Podman \d.* at unix:.*: container$/) });
    expect(facts).toMatchObject({ found: 'option "host"', seccomp: expect.stringMatching(/^yes/) });
  });

  it("allows and refuses the very same system calls", async () => {
    const program = readFileSync(new URL("guest/system_calls.py", import.meta.url), "utf8");
    const command = ["python3", "-"];
    const [there, here] = [host, undefined].map((engine) =>
      runInContainer(testImages.python, command, program, engine),
    );
    expect(JSON.parse((await there) ?? "")).toEqual(JSON.parse((await here) ?? "null"));
  });

  it("has nothing that can be written without a bound, nor by another user", async () => {
    const sandbox = await createSandbox(provider, { resources: { memoryMiB: 256, diskMiB: 64 } });
    const { stdout } = await sandbox.exec("df -k --output=size,target; stat -c %u:%a /workspace /app; id -u");
    for (const place of ["/run/new", "/var/tmp/new"])
      await expect(sandbox.files.write(place, "")).rejects.toMatchObject({ code: "PERMISSION" });
    const sizes = stdout.text
      .split("\n")
      .flatMap((line) => line.match(/^ *(\d+) (\/(?:tmp|run|var\/tmp|app|workspace))$/)?.[1] ?? []);
    expect(sizes).toHaveLength(5);
    expect(Math.max(...sizes.map(Number))).toBeLessThanOrEqual(24 * 1024);
    const [user] = stdout.text.trim().split("\n").slice(-1);
    expect(stdout.text).toContain(`${user}:755\n${user}:755\n`);
    await sandbox.destroy();
  });

  it("keeps installed packages in an image, and a pool of sandboxes waiting", { timeout: 90_000 }, async () => {
    const index = await PackageIndex.start();
    const pooled = docker({ host, images: testImages, pull: "never", packages: index.options, pool: { size: 1 } });
    try {
      for (const _ of ["installed", "found again"]) {
        const sandbox = await createSandbox(pooled, { packages: ["words"] });
        expect((await sandbox.info()).packages).toEqual([expect.stringMatching(/^words==/)]);
        expect((await sandbox.exec(["python3", "-c", "import words"])).exitCode).toBe(0);
        await sandbox.destroy();
      }
      expect(index.asked.filter((path) => path.endsWith(".whl"))).toHaveLength(1);
    } finally {
      await pooled.close?.();
      await index.close();
    }
  });

  it.each(["python", "node", "busybox"] as const)(
    "saves what was written, and forks it, in the image of %s",
    {
      timeout: 60_000,
    },
    async (image) => {
      const sandbox = await createSandbox(provider, { image: testImages[image] });
      const places = ["/workspace", "/tmp", "/app/deep", "/tools"];
      for (const place of places) await sandbox.files.write(`${place}/file`, place);
      const snapshot = await sandbox.snapshot();
      const others = [await createSandbox(provider, { snapshot: snapshot.id }), ...(await sandbox.fork(1))];
      for (const other of others) {
        for (const place of places) expect(await other.files.readText(`${place}/file`)).toBe(place);
        await other.destroy();
      }
      await sandbox.destroy();
      await provider.removeSnapshot?.(snapshot.id);
    },
  );

  it("runs images with neither Python nor Node", async () => {
    const sandbox = await createSandbox(provider, { image: testImages.busybox });
    const { exitCode, stdout, stderr } = await sandbox.exec("cat; echo oops >&2; exit 3", { stdin: "in" });
    expect([exitCode, stdout.text, stderr.text]).toEqual([3, "in", "oops\n"]);
    expect((await sandbox.exec("sleep 100 & sleep 100", { timeoutMs: 300 })).reason).toBe("timeout");
    await sandbox.files.write("a b", "kept");
    expect(await sandbox.files.readText("a b")).toBe("kept");
    await sandbox.destroy();
  });

  it("says why a sandbox is lost", async () => {
    const sandbox = await createSandbox(provider, {});
    const running = sandbox.exec("sleep 60");
    const settled = expect(running).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      message: expect.stringContaining("somebody ended its container"),
    });
    await podman?.dockerode.getContainer(`sandkit-${sandbox.ref.id}`).kill();
    await settled;
    await sandbox.destroy();
  });

  it("leaves nothing of an owner that is killed, nor of creations that are given up", { timeout: 60_000 }, async () => {
    const program = fileURLToPath(new URL("owner.mjs", import.meta.url));
    const env = { ...process.env, DOCKER_HOST: host };
    const owner = spawn(process.execPath, [program, testImages.python, randomUUID()], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: owner.stdout })) if (line.startsWith("ready ")) break;
    expect(await left()).toHaveLength(1);
    owner.kill("SIGKILL");
    await once(owner, "exit");
    for (const delayMs of [10, 60, 150, 300]) {
      const creation = createSandbox(provider, { signal: AbortSignal.timeout(delayMs) });
      await creation.then((sandbox) => sandbox.destroy()).catch((error) => expect(error.name).toBe("TimeoutError"));
    }
    for (let round = 0; (await left())?.length !== 0; round++) {
      expect(round, JSON.stringify(await left())).toBeLessThan(200);
      await pause(50);
    }
  });
});
