import { describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { layOutWorkspace, tmpfsOptions } from "../src/workspace.js";

const MiB = 1024 * 1024;

describe("layOutWorkspace", () => {
  it("never gives more than was asked for, shared memory included", () => {
    for (const diskMiB of [16, 100, 513, 1024]) {
      const { mounts, sharedMemoryBytes } = layOutWorkspace({ memoryMiB: 2048, diskMiB });
      const total = Object.values(mounts).reduce((sum, bytes) => sum + bytes, sharedMemoryBytes);
      expect(total).toBeLessThanOrEqual(diskMiB * MiB);
      expect(total).toBeGreaterThan((diskMiB - 1) * MiB);
      expect(Object.keys(mounts).sort()).toEqual(["/app", "/tmp", "/tools", "/workspace"]);
    }
  });

  it("leaves programs some of the memory, and says both numbers when it cannot", () => {
    expect(() => layOutWorkspace({ memoryMiB: 256, diskMiB: 193 })).toThrow(/193.*256.*at most 192/);
    expect(layOutWorkspace({ memoryMiB: 256, diskMiB: 192 }).diskMiB).toBe(192);
    expect(() => layOutWorkspace({ memoryMiB: 64 })).toThrow("resources.memoryMiB 64: must be at least 80");
    expect(() => layOutWorkspace({ memoryMiB: 256, diskMiB: 8 })).toThrow("resources.diskMiB 8: must be at least 16");
    expect(layOutWorkspace({ memoryMiB: 96 }).diskMiB).toBe(32);
  });

  it("puts a workdir inside another place into that place", () => {
    const { mounts } = layOutWorkspace({ memoryMiB: 1024, workdir: "/tmp/a b" });
    expect(Object.keys(mounts).sort()).toEqual(["/app", "/tmp", "/tools"]);
    expect(Object.keys(layOutWorkspace({ memoryMiB: 1024, workdir: "/app" }).mounts)).not.toContain("/workspace");
    expect(Object.keys(layOutWorkspace({ memoryMiB: 1024, workdir: "/home/me/x" }).mounts)).toContain("/home/me/x");
  });

  it("refuses a workdir that would hide the image", () => {
    for (const workdir of ["/", "/usr", "/usr/bin", "/etc/x", "/proc", "/dev/shm", "/lib64"]) {
      expect(() => layOutWorkspace({ memoryMiB: 1024, workdir }), workdir).toThrow(/would cover/);
    }
  });
});

describe("tmpfsOptions", () => {
  it("bounds bytes and files, allows execution, and belongs to the user", () => {
    const { "/workspace": options } = tmpfsOptions({ "/workspace": 100 * MiB }, "1000:1001");
    expect(options).toBe(`rw,exec,nosuid,nodev,size=${100 * MiB},nr_inodes=6400,mode=0755,uid=1000,gid=1001`);
  });
});

describe("validate", () => {
  const provider = docker();
  const refused = (options: Parameters<typeof provider.validate>[0]) => {
    try {
      provider.validate(options);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it("names what is wrong before anything is created", () => {
    expect(refused({ template: "cobol" })).toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("python-3.12"),
    });
    expect(refused({ resources: { memoryMiB: 128, diskMiB: 100 } })).toMatchObject({ code: "INVALID" });
    expect(refused({ native: { user: "0:0" } })).toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("unsafeRoot"),
    });
    expect(refused({ native: { user: "1000:0" } })).toMatchObject({ code: "INVALID" });
    expect(refused({ native: { privileged: true } as object })).toMatchObject({ code: "INVALID" });
    const many = refused({ native: { gpus: "many" } as object });
    expect(many).toMatchObject({ code: "INVALID", message: expect.stringContaining('"all", a number from 1') });
    expect(() => docker({ dockerode: JSON.parse("7") })).toThrow(/dockerode: must be an instance/);
    expect(refused({ image: "two words" })).toMatchObject({ code: "INVALID" });
    expect(refused({})).toBeUndefined();
    expect(refused({ image: "debian:bookworm-slim", native: { user: "1234:1234" } })).toBeUndefined();
  });
});
