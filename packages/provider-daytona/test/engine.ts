import { docker } from "@sandkit/provider-docker";

/** The image that `images/` builds, as `npm test` names it. */
export const pythonImage = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
/** Neither Python nor bash. */
export const plainImage = process.env.SANDKIT_TEST_IMAGE_BUSYBOX ?? "sandkit/busybox:test";

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await docker().check();
  if (ok) return true;
  if (process.env.CI) throw new Error(`CI has no container engine, and these tests are never skipped there: ${detail}`);
  console.warn(`SKIPPED: no container engine answers, so nothing is emulated in containers: ${detail}`);
  return false;
}

/** Without an engine tests are skipped, and say so; in CI that is a failure. */
export const engineIsThere = await engineAnswers();
