import { type ConformanceOptions, testProvider } from "@sandkit/core/conformance";
import Dockerode from "dockerode";
import { describe, it } from "vitest";

/** The images that `images/` builds. `npm test` builds those that are named here and gives their names. */
export const testImages = {
  python: process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test",
  node: process.env.SANDKIT_TEST_IMAGE_NODE ?? "sandkit/node:test",
  /** Python's, and git. */
  git: process.env.SANDKIT_TEST_IMAGE_GIT ?? "sandkit/git:test",
  data: process.env.SANDKIT_TEST_IMAGE_DATA ?? "sandkit/data:test",
  /** A shell and coreutils. */
  bare: process.env.SANDKIT_TEST_IMAGE_BARE ?? "sandkit/bare:test",
  busybox: process.env.SANDKIT_TEST_IMAGE_BUSYBOX ?? "sandkit/busybox:test",
};

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

/** Without an engine tests are skipped, and say so; in CI that is a failure. */
export const engineIsThere = await engineAnswers();

/** Tests that need a real engine. */
export const describeOnEngine = describe.skipIf(!engineIsThere);

/** The suite, on a provider that needs the engine. To be awaited at the top of a test file. */
export async function testOnEngine(options: ConformanceOptions): Promise<void> {
  if (engineIsThere) await testProvider(options);
  else describe("conformance", () => it.skip("needs a container engine"));
}

/** Ids of our containers with this label, in any state. */
export async function containersWith(label: string): Promise<string[]> {
  const found = await engine.listContainers({ all: true, filters: { label: [label] } });
  return found.map(({ Id }) => Id);
}
