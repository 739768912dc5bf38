import { docker } from "@sandkit/provider-docker";
import { describe } from "vitest";

/** The image that `images/` builds, as `npm test` names it. */
export const pythonImage = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";

/** A shell and its usual tools, without Python: E2B needs its bash. */
export const bareImage = process.env.SANDKIT_TEST_IMAGE_BARE ?? "sandkit/bare:test";
/** Neither Python nor bash. */
export const busyboxImage = process.env.SANDKIT_TEST_IMAGE_BUSYBOX ?? "sandkit/busybox:test";

/** Containers of the first. */
export const containers = docker({ images: { python: pythonImage }, pull: "never" });

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await containers.check();
  if (ok) return true;
  if (process.env.CI) throw new Error(`CI has no container engine, and these tests are never skipped there: ${detail}`);
  console.warn(`SKIPPED: no container engine answers, so nothing is emulated in containers: ${detail}`);
  return false;
}

/** Without an engine tests are skipped, and say so; in CI that is a failure. */
export const engineIsThere = await engineAnswers();

/** Tests that need a real engine. */
export const describeOnEngine = describe.skipIf(!engineIsThere);
