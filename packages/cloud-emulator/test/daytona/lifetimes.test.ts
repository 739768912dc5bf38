import { DaytonaNotFoundError } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

const minute = 60_000;
let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ sandboxClass: "linux-vm" });
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("with time", () => {
  it("an idle sandbox stops, and requests count as use, running programs do not", async () => {
    const { daytona, emulator } = cloud;
    const sandbox = await daytona.create({ autoStopInterval: 2 });
    await sandbox.process.executeCommand("sleep 60 >/dev/null 2>&1 &");
    await emulator.clock.advance(1.5 * minute);
    await sandbox.process.executeCommand("true");
    await emulator.clock.advance(1.5 * minute);
    await sandbox.refreshActivity();
    await emulator.clock.advance(1.5 * minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("started");
    await emulator.clock.advance(minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("stopped");
  });

  it("an interval of 0 never stops it, and a later one counts from the last use", async () => {
    const { daytona, emulator } = cloud;
    const sandbox = await daytona.create({ autoStopInterval: 0 });
    await emulator.clock.advance(1_000 * minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("started");
    await sandbox.refreshActivity();
    await sandbox.setAutostopInterval(5);
    await emulator.clock.advance(5 * minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("stopped");
  });

  it("a time to live ends it in any state, and is counted from when it was set", async () => {
    const { daytona, emulator } = cloud;
    const sandbox = await daytona.create({ autoStopInterval: 0, ttlMinutes: 10 });
    await emulator.clock.advance(8 * minute);
    await sandbox.setTtl(10);
    await sandbox.refreshData();
    expect(Date.parse(sandbox.autoDestroyAt ?? "") - emulator.clock.now()).toBeCloseTo(10 * minute, -4);
    await emulator.clock.advance(8 * minute);
    await sandbox.stop();
    await emulator.clock.advance(3 * minute);
    await expect(daytona.get(sandbox.id)).rejects.toThrow(DaytonaNotFoundError);
  });

  it("a stopped one is archived, and deleted", async () => {
    const { daytona, emulator } = cloud;
    const sandbox = await daytona.create({ autoArchiveInterval: 10, autoDeleteInterval: 30 });
    await sandbox.stop();
    await emulator.clock.advance(10 * minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("archived");
    await emulator.clock.advance(30 * minute);
    await expect(daytona.get(sandbox.id)).rejects.toThrow(DaytonaNotFoundError);
  });

  it("an ephemeral one is gone once it stops", async () => {
    const sandbox = await cloud.daytona.create({ ephemeral: true, autoStopInterval: 1 });
    await cloud.emulator.clock.advance(minute);
    await expect(cloud.daytona.get(sandbox.id)).rejects.toThrow(DaytonaNotFoundError);
  });

  it("an idle machine is paused where it can be, with what runs in it", async () => {
    const { daytona, emulator } = cloud;
    const sandbox = await daytona.create({ autoPauseInterval: 3 });
    await sandbox.process.executeCommand("(while :; do date +%s%N >ticks; sleep 0.1; done) >/dev/null 2>&1 &");
    await emulator.clock.advance(3 * minute);
    await sandbox.refreshData();
    expect(sandbox.state).toBe("paused");
    await sandbox.start();
    const command = 'before=$(cat ticks); sleep 1; [ "$before" != "$(cat ticks)" ] && echo ticking';
    expect((await sandbox.process.executeCommand(command)).result).toBe("ticking\n");
  });
});
