import { docker } from "@sandkit/provider-docker";
import { describe } from "vitest";

/** The image that `images/` builds; `npm test` gives its name. */
const python = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";

/** Containers of that image. */
export const containers = docker({ images: { python }, pull: "never" });

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await containers.check();
  if (ok) return true;
  if (process.env.CI) throw new Error(`CI has no container engine: these tests are never skipped there: ${detail}`);
  console.warn("SKIPPED: no container engine answers, so the emulators are not tested over one. Start one.");
  return false;
}

/** Tests that need a real engine: skipped without one, and saying so; in CI that is a failure. */
export const describeOnEngine = describe.skipIf(!(await engineAnswers()));
