import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "@sandkit/core";
import { expect, it, onTestFinished } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

/** Addresses that are asked for, in order; the engine answers behind it. */
async function listenIn(): Promise<{ readonly host: string; readonly asked: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "sandkit-calls-"));
  const path = join(folder, "engine.sock");
  const asked: string[] = [];
  const server = createServer((client) => {
    const behind = connect(new URL(process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock").pathname);
    client.on("data", (bytes) => {
      for (const [, address] of bytes.toString("latin1").matchAll(/^[A-Z]+ (\S+)(?: HTTP\/1\.1\r)?$/gm))
        if (address !== undefined) asked.push(address);
    });
    client.pipe(behind).pipe(client);
    for (const [one, other] of [[client, behind] as const, [behind, client] as const])
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  }).listen(path);
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return { host: `unix://${path}`, asked };
}

describeOnEngine("what an engine is asked", () => {
  it("is little: creates at one time look for their image once, and what they want is not in addresses", async () => {
    const { host, asked } = await listenIn();
    const provider = docker({ images: testImages, host });
    const warm = await createSandbox(provider, {});
    await warm.destroy();
    asked.splice(0);
    const sandboxes = await Promise.all([1, 2, 3, 4].map(() => createSandbox(provider, {})));
    const creating = [...asked];
    await Promise.all(sandboxes.map((sandbox) => sandbox.destroy()));
    const counts = (part: string) => creating.filter((address) => address.includes(part)).length;
    expect([counts("/create?"), counts("/attach?"), counts("/start")]).toEqual([4, 4, 4]);
    expect(counts("/images/")).toBe(1);
    expect(creating.length).toBeLessThanOrEqual(14);
    expect(Math.max(...creating.map(({ length }) => length))).toBeLessThan(300);
  });
});
