import { createSandbox, type Sandbox } from "@sandkit/core";
import type Dockerode from "dockerode";
import { afterAll, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

const provider = docker({ images: testImages });
const made: Sandbox[] = [];

/** A sandbox that works, and how its agent has started. */
async function startOfAgent(): Promise<string> {
  const one = await createSandbox(provider);
  made.push(one);
  expect((await one.exec("echo works")).stdout.text).toBe("works\n");
  const { container } = one.native<{ readonly container: Dockerode.Container }>();
  const { Entrypoint = [] } = (await container.inspect()).Config;
  return Entrypoint.includes("compiled") ? "compiled" : "source";
}

afterAll(async () => {
  await Promise.all(made.map((one) => one.destroy()));
});

describeOnEngine("the agent of a container", () => {
  it("comes compiled to the sandboxes that follow two of the same image", async () => {
    expect([await startOfAgent(), await startOfAgent()]).toEqual(["source", "source"]);
    expect([await startOfAgent(), await startOfAgent()]).toEqual(["compiled", "compiled"]);
  });
});
