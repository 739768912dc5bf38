import { Daytona } from "@daytonaio/sdk";
import { attachSandbox, createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import { eventually, living } from "../../cloud-emulator/test/bad-days.js";
import { busyboxImage, engineIsThere } from "../../cloud-emulator/test/engine.js";
import { type Emulated, emulated } from "./emulated.js";

/** As in Daytona's dashboard. */
async function restart({ emulator: { apiKey, url: apiUrl } }: Emulated, id: string): Promise<void> {
  const theirs = await new Daytona({ apiKey, apiUrl, target: "us", useDeprecatedPolling: true }).get(id);
  await theirs.stop();
  await theirs.start();
}

it.each([
  ["its program's alone", false],
  ["detached", true],
])(
  "a sandbox that somebody stops and starts under our feet, %s, says so and goes on with its files",
  {
    timeout: 60_000,
  },
  async (_, detached) => {
    await using cloud = await emulated();
    const sandbox = await createSandbox(cloud.provider, { lifetime: { detached } });
    await sandbox.files.write("kept", "kept");
    const running = sandbox.exec("sleep 60").catch((error) => error);
    await sandbox.exec("true");
    await restart(cloud, sandbox.ref.id);
    const lost = {
      code: "SANDBOX_LOST",
      retryable: false,
      message: expect.stringMatching(/stopped and started.*resume\(\)/),
    };
    expect(await running).toMatchObject(lost);
    await eventually("it waits for a resume", () =>
      sandbox.exec("true").then(
        () => false,
        ({ code, message }) => code === "UNAVAILABLE" && /stopped and started.*resume\(\)/.test(message),
      ),
    );
    expect(await living(cloud.provider)).toHaveLength(1);
    await sandbox.resume();
    expect(await sandbox.files.readText("kept")).toBe("kept");
    expect((await sandbox.exec("echo on")).stdout.text).toBe("on\n");
    const other = await attachSandbox(detached ? cloud.other() : cloud.provider, sandbox.ref);
    expect(await other.files.readText("kept")).toBe("kept");
    await sandbox.destroy();
    expect(await living(cloud.provider)).toEqual([]);
  },
);

it.runIf(engineIsThere)(
  "in plain mode too, where what ran may be told as ended by SIGKILL",
  {
    timeout: 60_000,
  },
  async () => {
    await using cloud = await emulated({ provider: docker(), machine: { image: busyboxImage } });
    const sandbox = await createSandbox(cloud.provider);
    await sandbox.files.write("kept", "kept");
    const running = sandbox.exec("sleep 60").then(
      ({ signal }) => signal,
      ({ code }) => code,
    );
    await sandbox.exec("true");
    await restart(cloud, sandbox.ref.id);
    expect(["SIGKILL", "SANDBOX_LOST"]).toContain(await running);
    await sandbox.resume();
    expect(await sandbox.files.readText("kept")).toBe("kept");
    await sandbox.destroy();
    expect(await living(cloud.provider)).toEqual([]);
  },
);
