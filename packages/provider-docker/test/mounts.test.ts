import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DockerMount, type DockerOptions, docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-mounts-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("folders of the machine", () => {
  it("are allowed by the provider's options alone, and not where they give it away", () => {
    const machine = [
      "/",
      "/etc",
      "/etc/ssl",
      "/proc",
      "/sys/fs",
      "/dev",
      "/run",
      "/var/run/docker.sock",
      "/var",
      "/home",
    ];
    for (const source of [...machine, "relative", "/a/../etc", "/a/", "/srv/x.sock"]) {
      expect(() => docker({ mountSources: [source] }), source).toThrow(/mountSources/);
    }
    for (const source of ["relative", "/a/../etc"]) {
      expect(() => docker({ mountSources: [source], unsafeMounts: true }), source).toThrow(/mountSources/);
    }
    expect(() => docker({ mountSources: ["/srv/a", "/srv/a/b"] })).toThrow(/lies in/);
    docker({ mountSources: ["/var/run"], unsafeMounts: true });
  });

  it("are given to a sandbox only as they are listed, and nowhere over what it needs", () => {
    const asked = (mounts: readonly DockerMount[], options: DockerOptions = { mountSources: ["/srv/a", "/srv/b"] }) =>
      expect(() => docker(options).validate({ native: { mounts } }));
    asked([{ source: "/srv/a", target: "/data" }], {}).toThrow(/lists none/);
    for (const source of ["/srv", "/srv/a/b", "/srv/a/../b", "/etc", "/"])
      asked([{ source, target: "/data" }]).toThrow(/among/);
    const needed = [
      "/",
      "/workspace",
      "/workspace/a",
      "/tmp",
      "/app/x",
      "/tools",
      "/dev/shm",
      "/usr",
      "/usr/lib/x",
      "/proc",
    ];
    for (const target of [...needed, "/.sandkit", "data", "/data/../etc", "/data/"]) {
      asked([{ source: "/srv/a", target }]).toThrow(/target/);
    }
    const twice = ["/data", "/data/b"].map((target) => ({ source: "/srv/a", target }));
    asked(twice).toThrow(/covers or lies in \/data/);
    asked([{ source: "/srv/a", target: "/data" }]).not.toThrow();
  });
});

describeOnEngine("a container with folders of the machine", () => {
  it("reads them, and writes only where that was said; the engine is asked for GPUs", async () => {
    const [read, write] = [join(folder, "read"), join(folder, "write")];
    await chmod(folder, 0o755);
    for (const path of [read, write]) await mkdir(path, { mode: 0o777 });
    await chmod(write, 0o777);
    await writeFile(join(read, "file"), "from outside");
    await symlink("/etc/hostname", join(read, "link"));
    const provider = docker({ images: testImages, pull: "never", mountSources: [read, write] });
    const mounts = [
      { source: read, target: "/data/in" },
      { source: write, target: "/data/out", readOnly: false },
    ];
    const sandbox = await createSandbox(provider, { native: { mounts } });
    try {
      expect(await sandbox.files.readText("/data/in/file")).toBe("from outside");
      // A link in a folder leads where it leads inside.
      expect(await sandbox.files.readText("/data/in/link")).toBe("sandbox\n");
      expect((await sandbox.exec("touch /data/in/new")).stderr.text).toContain("Read-only file system");
      (await sandbox.exec("echo inside > /data/out/new; touch mine")).orThrow();
      expect(await readFile(join(write, "new"), "utf8")).toBe("inside\n");
      const told = await sandbox.describe();
      expect(told).toContain("Folders of its machine: /data/in (read-only), /data/out (what is written stays).");
      const [fork] = await sandbox.fork();
      expect((await fork?.exec("cat /data/out/new; ls"))?.stdout.text).toBe("inside\nmine\n");
      await fork?.destroy();
    } finally {
      await sandbox.destroy();
    }
  });

  it("that are not there, or GPUs that it has not, are told by their options, with what there is to do", async () => {
    // Nothing has a GPU where this runs: that the engine looks for one shows that it was asked.
    const missing = join(folder, "missing");
    const provider = docker({ images: testImages, pull: "never", mountSources: [missing] });
    for (const gpus of ["all", 1, ["0"]] as const) {
      const created = createSandbox(provider, { native: { gpus } });
      await expect(created).rejects.toMatchObject({
        code: "UNAVAILABLE",
        retryable: false,
        message: expect.stringMatching(/"native\.gpus" is .*device driver.*container toolkit/),
      });
    }
    const mounts = [{ source: missing, target: "/data" }];
    await expect(createSandbox(provider, { native: { mounts } })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/"native\.mounts".*\/missing" for target "\/data".*make that folder/),
    });
  });
});
