import { afterAll, expect, it } from "vitest";
import { builtName } from "../src/build-template.js";
import { EngineConnector } from "../src/engine/connector.js";
import { ImageStore } from "../src/image-store.js";
import { findTemplate } from "../src/templates.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const connector = new EngineConnector({});

describeOnEngine("an image", () => {
  const template = { name: "own", image: testImages.python, build: ["RUN echo content > /built"] };
  afterAll(() => engine.getImage(builtName(template)).remove({ force: true }));

  it("whose template adds to a public one is built once, however many ask", { timeout: 60_000 }, async () => {
    const client = await connector.connect();
    const store = new ImageStore();
    const told: string[] = [];
    const asker = { onProgress: (message: string) => told.push(message) };
    const found = await Promise.all([1, 2, 3].map(() => store.prepare(client, template, asker)));
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(found[0]).toMatchObject({ reference: builtName(template), first: "python" });
    expect(told.some((message) => message.startsWith('building the image of template "own"'))).toBe(true);
    // From now on it is there.
    await new ImageStore("never").prepare(client, template, {});
  });

  it("whose template cannot be built says why, and what to do", async () => {
    const broken = { name: "broken", image: testImages.python, build: ["RUN echo no such package >&2; exit 3"] };
    await expect(new ImageStore().prepare(await connector.connect(), broken, {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: expect.stringMatching(/no such package.*"images" of the options/s),
    });
  });

  it.each([
    ["sandkit/python:test", "python"],
    ["sandkit/node:test", "node"],
    ["sandkit/bare:test", "shell"],
    ["sandkit/busybox:test", "shell"],
  ])("%s is started with %s", async (image, first) => {
    const facts = await new ImageStore().prepare(await connector.connect(), { name: image, image }, {});
    expect(facts.first).toBe(first);
  });

  it("that was deleted is NOT_FOUND, and so is one without a name that anybody knows", async () => {
    const client = await connector.connect();
    const container = await engine.createContainer({ Image: testImages.python, Cmd: ["true"] });
    const { Id: image } = await container.commit({});
    await container.remove();
    const store = new ImageStore("never");
    await store.prepare(client, { name: image, image }, {});
    await engine.getImage(image).remove({ force: true });
    await expect(store.prepare(client, { name: image, image }, {})).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

it("templates are exactly what their names say, or refused with all that there are", () => {
  expect(findTemplate("python-3.11").image).toContain("python:3.11");
  expect(findTemplate("node-20").image).toContain("node:20");
  expect(findTemplate("python", { python: "own@sha256:0" })).toMatchObject({ image: "own@sha256:0", first: "python" });
  for (const name of ["python-3", "python-2.7", "toString", "", "Python"]) {
    expect(() => findTemplate(name), name).toThrow(/there are bash, data, go/);
  }
});
