import { DaytonaConflictError, DaytonaNotFoundError } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ sandboxClass: "linux-vm", templates: { "python:3.12": {} } });
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("a snapshot", () => {
  it("of a sandbox is what others start from", async () => {
    const { daytona } = cloud;
    const sandbox = await daytona.create();
    await sandbox.fs.uploadFile(Buffer.from("then"), "dir/file");
    await sandbox.process.executeCommand("ln -s file dir/link; chmod 750 dir/file");
    await sandbox.createSnapshot("mine");
    expect(sandbox.state).toBe("started");
    await sandbox.fs.uploadFile(Buffer.from("later"), "dir/file");
    await expect(sandbox.createSnapshot("mine")).rejects.toThrow(DaytonaConflictError);
    expect(await daytona.snapshot.get("mine")).toMatchObject({ state: "active", sourceSandboxId: sandbox.id });

    const other = await daytona.create({ snapshot: "mine" });
    expect(other.snapshot).toBe("mine");
    expect((await other.process.executeCommand("cat dir/link; stat -c %a dir/file")).result).toBe("then750\n");
    await daytona.snapshot.delete("mine");
    await expect(daytona.snapshot.get("mine")).rejects.toThrow(DaytonaNotFoundError);
    await expect(daytona.create({ snapshot: "mine" })).rejects.toThrow(/not found/);
  });

  it("is made from an image, listed, and taken out of use", async () => {
    const { daytona } = cloud;
    const made = await daytona.snapshot.create({ name: "from-image", image: "python:3.12" });
    expect(made).toMatchObject({ state: "active", imageName: "python:3.12" });
    expect((await daytona.snapshot.list()).items.map(({ name }) => name)).toContain("from-image");
    await (await daytona.create({ snapshot: "from-image" })).delete();
    await expect(daytona.snapshot.create({ name: "bad", image: "no:such" })).rejects.toThrow(/not among/);
  });
});

describe("a fork", () => {
  it("has the same files, and goes its own way", async () => {
    const sandbox = await cloud.daytona.create({ envVars: { WORD: "w" } });
    await sandbox.fs.uploadFile(Buffer.from("same"), "file");
    const fork = await sandbox.fork({ name: "forked" });
    await sandbox.fs.uploadFile(Buffer.from("other"), "file");
    expect(fork.name).toBe("forked");
    expect((await fork.process.executeCommand("cat file; echo $WORD")).result).toBe("samew\n");
  });
});
