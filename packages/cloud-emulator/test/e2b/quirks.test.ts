import { afterEach, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
afterEach(() => cloud.emulator.close());

describe("a quirk of the emulated E2B", () => {
  it("cuts output into pieces of any size, also within characters", async () => {
    cloud = await startCloud({ quirks: { chunkBytes: 3 } });
    const sandbox = await cloud.client.Sandbox.create();
    const pieces: string[] = [];
    const { stdout } = await sandbox.commands.run("printf '🦀🦀🦀🦀 crabs'", {
      onStdout: (text) => void pieces.push(text),
    });
    expect(stdout).toBe("🦀🦀🦀🦀 crabs");
    expect(pieces.length).toBeGreaterThan(4);
  });

  it("makes a stream say often that it lives", async () => {
    cloud = await startCloud({ quirks: { keepaliveMs: 20 } });
    const sandbox = await cloud.client.Sandbox.create();
    expect((await sandbox.commands.run("sleep 0.3; echo over")).stdout).toBe("over\n");
  });

  it("tells another version of envd, to which the SDK adapts", async () => {
    cloud = await startCloud({ quirks: { envdVersion: "0.5.0" } });
    const sandbox = await cloud.client.Sandbox.create();
    const handle = await sandbox.commands.run("cat", { background: true, stdin: true });
    await expect(handle.closeStdin()).rejects.toThrow("doesn't support closeStdin");
    await handle.kill();
  });
});

describe("envd of the emulated E2B", () => {
  it("tells the environment and the measures of its machine", async () => {
    cloud = await startCloud();
    const sandbox = await cloud.client.Sandbox.create({ envs: { A: "b" } });
    const headers = { "e2b-sandbox-id": sandbox.sandboxId, "x-access-token": Reflect.get(sandbox, "envdAccessToken") };
    const ask = async (path: string) => (await fetch(cloud.emulator.url + path, { headers })).json();
    expect(await ask("/envs")).toEqual({ A: "b" });
    expect(await ask("/metrics")).toMatchObject({ cpu_count: expect.any(Number), mem_total: expect.any(Number) });
    expect(await ask("/files/compose")).toMatchObject({ code: 501 });
  });
});
