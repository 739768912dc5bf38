import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

describe("the life of a sandbox", () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud();
  });
  afterAll(() => cloud[Symbol.asyncDispose]());

  it("is made, found by id and by name, listed by labels, stopped, started and deleted", async () => {
    const { daytona } = cloud;
    const sandbox = await daytona.create({ name: "one", labels: { owner: "me" }, envVars: { GREETING: "hello" } });
    expect(sandbox.state).toBe("started");
    expect(sandbox.labels).toMatchObject({ owner: "me", "code-toolbox-language": "python" });
    expect((await daytona.get("one")).id).toBe(sandbox.id);
    expect((await daytona.get(sandbox.id)).env).toEqual({ GREETING: "hello" });

    const listed: string[] = [];
    for await (const one of daytona.list({ labels: { owner: "me" } })) listed.push(one.id);
    expect(listed).toEqual([sandbox.id]);

    await sandbox.fs.uploadFile(Buffer.from("kept"), "kept.txt");
    await sandbox.stop();
    expect(sandbox.state).toBe("stopped");
    await sandbox.start();
    expect((await sandbox.fs.downloadFile("kept.txt")).toString()).toBe("kept");
    expect((await sandbox.process.executeCommand("echo $GREETING; echo oops >&2")).result).toBe("hello\noops\n");

    await sandbox.delete(60, true);
    await expect(daytona.get("one")).rejects.toThrow("not found");
  });
});
