import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, type engine, testImages } from "./engine.js";

describeOnEngine("a container", () => {
  let sandbox: Sandbox;
  const output = async (command: string) => (await sandbox.exec(command)).orThrow().stdout.text.trim();
  beforeAll(async () => {
    const resources = { memoryMiB: 512, diskMiB: 64, cpus: 1, pids: 100 };
    sandbox = await createSandbox(docker({ images: testImages }), { resources });
  });
  afterAll(() => sandbox?.destroy());

  it("has neither privileges nor a way to get some", async () => {
    const [user = "", group] = (await output("id -u; id -g")).split("\n");
    expect(user).toMatch(/^[2-5]\d{4}$/);
    expect(group).toBe(user);
    const status = await output("cat /proc/self/status");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
      expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, "m"));
    }
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
  });

  it("shares its user with no other", async () => {
    await using other = await createSandbox(docker({ images: testImages }));
    expect((await other.exec("id -u")).stdout.text.trim()).not.toBe(await output("id -u"));
  });

  it("writes nowhere but in its sized places, where programs may run", async () => {
    for (const path of ["/x", "/etc/x", "/usr/local/x", "/var/x", "/root/x", "/run/x"]) {
      const { ok } = await sandbox.exec(["touch", path]);
      expect(ok, path).toBe(false);
    }
    const mounts = await output("cat /proc/mounts");
    for (const path of ["/workspace", "/app", "/tmp", "/tools"]) {
      const line = mounts.split("\n").find((entry) => entry.split(" ")[1] === path) ?? "";
      expect(line, path).toMatch(/^tmpfs \S+ tmpfs rw,nosuid,nodev,.*size=\d+k,nr_inodes=\d+/);
      expect(line, path).not.toContain("noexec");
      expect(await output(`printf '#!/bin/sh\necho ran' > ${path}/p && chmod +x ${path}/p && ${path}/p`)).toBe("ran");
    }
  });

  it("has no network but itself", async () => {
    expect(await output("ls /sys/class/net")).toBe("lo");
    expect(await output("wc -l < /proc/net/route")).toBe("1");
  });

  it("has the caps that were asked for, no swap, no log, no terminal", async () => {
    const { container } = sandbox.native<{ container: ReturnType<typeof engine.getContainer> }>();
    const { HostConfig, Config } = await container.inspect();
    expect(HostConfig).toMatchObject({
      Memory: 512 * 1024 * 1024,
      MemorySwap: 512 * 1024 * 1024,
      NanoCpus: 1e9,
      PidsLimit: 100,
      ReadonlyRootfs: true,
      Privileged: false,
      NetworkMode: "none",
      IpcMode: "private",
      AutoRemove: true,
      CapDrop: ["ALL"],
      LogConfig: { Type: "none" },
    });
    expect(Config).toMatchObject({ OpenStdin: true, StdinOnce: true, Tty: false });
    expect(await output("ulimit -c; nproc --all > /dev/null; echo $OMP_NUM_THREADS")).toBe("0\n1");
  });

  it("keeps the agent to itself: nothing of it can be read, and it cannot be killed", async () => {
    for (const path of ["fd", "mem", "environ", "maps"]) {
      const { ok } = await sandbox.exec(["sh", "-c", `cat /proc/1/${path}/* /proc/1/${path}`]);
      expect(ok, path).toBe(false);
    }
    await sandbox.exec("kill -KILL 1; kill -STOP 1");
    expect((await sandbox.exec("echo alive")).stdout.text).toBe("alive\n");
  });

  it("is a place where tools work", async () => {
    expect(await output("python3 -c 'import getpass; print(getpass.getuser())'")).toBe("sandbox");
    expect(await output("echo $HOME; cd && pwd")).toBe("/tmp/.home\n/tmp/.home");
    expect(await output("python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix)'")).toBe(
      "/workspace/v",
    );
    expect(await output("python3 -m pytest --version")).toMatch(/^pytest/);
    expect(await output("python3 -c 'from multiprocessing import Pool; print(Pool(2).map(abs, [-1, -2]))'")).toBe(
      "[1, 2]",
    );
    await sandbox.files.write(
      "package/setup.py",
      "from setuptools import setup; setup(name='own', py_modules=['own'])",
    );
    await sandbox.files.write("package/own.py", "value = 5");
    expect(
      await output(
        "pip install -q --no-index --no-build-isolation ./package 2>&1; python3 -c 'import own; print(own.value)'",
      ),
    ).toContain("5");
  });
});

describeOnEngine("unsafeRoot", () => {
  it("gives root on a writable root, and still no privileges over the machine", async () => {
    const provider = docker({ images: testImages, unsafeRoot: true });
    const sandbox = await createSandbox(provider, {});
    try {
      const result = await sandbox.exec(
        "id -u; touch /etc/x && echo wrote; cat /proc/self/status; mount -t tmpfs x /mnt || echo no mount",
      );
      expect(result.stdout.text).toMatch(/^0\nwrote\n/);
      expect(result.stdout.text).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(result.stdout.text).toContain("no mount");
      expect(sandbox.capabilities.features["resources.disk"]).toBe(false);
    } finally {
      await sandbox.destroy();
    }
  });
});
