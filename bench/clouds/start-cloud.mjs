import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** @typedef {{ url: string, apiKey: string, close: () => Promise<void> }} Cloud */

const program = fileURLToPath(new URL("emulator.mjs", import.meta.url));

/**
 * @param {"e2b" | "daytona"} name
 * @param {string} image
 * @returns {Promise<Cloud>}
 */
export async function startCloud(name, image) {
  const child = fork(program, [name, image], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const failed = ended.then(([code]) => {
    throw new Error(`the emulated ${name} ended with exit code ${code}`);
  });
  const [{ url, apiKey }] = await Promise.race([once(child, "message"), failed]);
  failed.catch(() => undefined);
  return {
    url,
    apiKey,
    async close() {
      child.disconnect();
      await ended;
    },
  };
}
