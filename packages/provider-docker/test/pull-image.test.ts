import { setTimeout as pause } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { EngineConnector } from "../src/engine/connector.js";
import { docker } from "../src/index.js";
import { pullImage } from "../src/pull-image.js";
import { describeOnEngine, engine } from "./engine.js";
import { type Registry, serveRegistry } from "./registry.js";

const never = new AbortController().signal;
const quiet = () => undefined;

/** The registry is on this machine, and so must the engine be that pulls from it. */
describeOnEngine("pulling an image", () => {
  let registry: Registry;
  let image: string;
  const has = () =>
    engine
      .getImage(image)
      .inspect()
      .then(
        () => true,
        () => false,
      );
  const pull = async (name: string, onProgress: (message: string) => void = quiet, signal = never) =>
    pullImage(await new EngineConnector({}).connect(), name, { signal, onProgress });

  beforeAll(async () => {
    registry = await serveRegistry();
    image = `${registry.host}/sandkit-test:latest`;
  });
  beforeEach(async () => {
    registry.delayMs = 0;
    registry.locked = false;
    if (await has()) await engine.getImage(image).remove({ force: true });
  });
  afterAll(async () => {
    if (await has()) await engine.getImage(image).remove({ force: true });
    await registry[Symbol.asyncDispose]();
  });

  it("tells how far it is, seldom, and ends with the image on the engine", async () => {
    registry.delayMs = 60;
    const told: { readonly at: number; readonly message: string }[] = [];
    await pull(image, (message) => told.push({ at: performance.now(), message }));
    expect(await has()).toBe(true);
    expect(told[0]?.message).toBe(`pulling ${image}`);
    const steps = told.slice(1);
    expect(steps.length).toBeGreaterThan(1);
    for (const { message } of steps) expect(message).toMatch(/: (\d+ of \d+ MB, )?\d of \d layers$/);
    expect(steps.some(({ message }) => / of [46] MB, /.test(message))).toBe(true);
    for (const [index, step] of steps.slice(1).entries())
      expect(step.at - (steps[index]?.at ?? 0)).toBeGreaterThan(240);
  });

  it("is given up when it is aborted", async () => {
    registry.delayMs = 100;
    const stop = new AbortController();
    const reason = new Error("changed my mind");
    const pulling = pull(image, quiet, stop.signal);
    setTimeout(() => stop.abort(reason), 300);
    await expect(pulling).rejects.toBe(reason);
    await pause(2500);
    expect(await has()).toBe(false);
  });

  it("is done once for all who wait for it, and goes on when one of them leaves", async () => {
    registry.delayMs = 40;
    const provider = docker();
    const stop = new AbortController();
    // The image has nothing in it that a sandbox could start with: that it says so shows that it was there.
    const empty = { code: "INVALID", message: expect.stringContaining("neither sh nor python3") };
    const first = createSandbox(provider, { image, signal: stop.signal });
    const others = [1, 2].map(() => createSandbox(provider, { image }));
    setTimeout(() => stop.abort(new Error("left")), 200);
    await expect(first).rejects.toThrow("left");
    for (const other of others) await expect(other).rejects.toMatchObject(empty);
    const layers = [...registry.asked].filter(([path]) => path.includes("/blobs/"));
    expect(layers.length).toBe(3);
  });

  it("says that there is no such tag", async () => {
    await expect(pull(`${registry.host}/sandkit-test:nope`)).rejects.toMatchObject({
      code: "NOT_FOUND",
      retryable: false,
      message: expect.stringMatching(/no such image or tag .*check its name and tag.*docker pull/),
    });
  });

  it("says that the registry wants a login", async () => {
    registry.locked = true;
    await expect(pull(image)).rejects.toMatchObject({ code: "AUTH", message: expect.stringContaining("docker login") });
  });

  it("says that the registry is out of reach", async () => {
    await expect(pull("127.0.0.1:9/sandkit-test:latest")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining("does not reach the registry"),
    });
  });

  it("says that a name is none", async () => {
    await expect(pull("Not A Name")).rejects.toMatchObject({ code: expect.stringMatching(/INVALID|NOT_FOUND/) });
  });
});
