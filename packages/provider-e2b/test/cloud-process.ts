import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Provider } from "@sandkit/core";
import { e2b } from "../src/index.js";

const program = fileURLToPath(new URL("emulator.mjs", import.meta.url));

/** For the suite: the provider, at an emulator in a process of its own that ends when it is closed. */
export async function cloudProcess(...machines: readonly string[]): Promise<Provider> {
  const child = fork(program, machines, { stdio: "inherit" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the emulator ended with exit code ${code}`);
  });
  const [{ url, apiKey }] = await Promise.race([once(child, "message"), ended]);
  const exit = ended.catch(() => undefined);
  const close = async () => {
    child.disconnect();
    await exit;
  };
  // Both users of E2B are the one user of an emulated machine, whatever that is called there.
  return { ...e2b({ apiKey, apiUrl: url, sandboxUrl: url, user: "root" }), close };
}
