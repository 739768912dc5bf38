import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunningKernel } from "./running-kernel.js";

describe("python", () => {
  let kernel: RunningKernel;
  beforeAll(async () => {
    kernel = await RunningKernel.start(
      { language: "python" },
      { python3: "/usr/bin/python3" },
      { SANDKIT_KERNEL: "plain" },
    );
  });
  afterAll(() => kernel[Symbol.asyncDispose]());

  it("gives the value of the last expression", async () => {
    expect(await kernel.run("x = 6\nx * 7")).toMatchObject({
      exitCode: 0,
      value: 42,
      outputs: [{ "text/plain": "42" }],
    });
  });
  it("interrupts", async () => {
    expect(await kernel.interrupted("print(1)\nimport time\ntime.sleep(50)")).toMatchObject({
      exitCode: 1,
      error: { name: "KeyboardInterrupt" },
    });
    expect(await kernel.interrupted("print(1)\nwhile True: pass")).toMatchObject({
      exitCode: 1,
      error: { name: "KeyboardInterrupt" },
    });
    expect(await kernel.interrupted("print(1)\nimport asyncio\nawait asyncio.sleep(50)")).toMatchObject({
      exitCode: 1,
      error: { name: "KeyboardInterrupt" },
    });
    expect(await kernel.interrupted("print(1)\nimport subprocess\nsubprocess.run(['sleep', '50'])")).toMatchObject({
      exitCode: 1,
      error: { name: "KeyboardInterrupt" },
    });
    expect(await kernel.run("x")).toMatchObject({ value: 6 });
  });
  it("dies", async () => {
    expect(await kernel.run("print('last')\nimport os\nos._exit(3)")).toMatchObject({
      exitCode: null,
      died: "crashed",
      stdout: "last\n",
    });
    expect(await kernel.run("1")).toMatchObject({ exitCode: null, died: "crashed" });
  });
});
