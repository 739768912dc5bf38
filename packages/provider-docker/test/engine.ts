import Dockerode from "dockerode";
import { describe } from "vitest";

/** The images that `images/` builds, by template. */
export const testImages = { python: "sandkit/python:test", node: "sandkit/node:test", data: "sandkit/data:test" };

export const engine = new Dockerode();

async function engineAnswers(): Promise<boolean> {
  try {
    await engine.ping();
    return true;
  } catch (error) {
    if (process.env.CI)
      throw new Error("CI has no container engine: these tests are never skipped there", { cause: error });
    console.warn("SKIPPED: no container engine answers, so the Docker provider is not tested here. Start one.");
    return false;
  }
}

/** Tests that need a real engine. Without one they are skipped, and say so; in CI that is a failure. */
export const describeOnEngine = describe.skipIf(!(await engineAnswers()));

/** Ids of our containers with this label, in any state. */
export async function containersWith(label: string): Promise<string[]> {
  const found = await engine.listContainers({ all: true, filters: { label: [label] } });
  return found.map(({ Id }) => Id);
}
