import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("programs/host.mjs", import.meta.url));

/**
 * A host to be asked, in a process of its own.
 * @param {string} [address] Of this machine, where it listens.
 */
export async function startHost(address = "127.0.0.1") {
  const host = spawn(process.execPath, [program, address], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(host.stdout, "data");
  return { address, port: Number(String(line)), stop: () => host.stdin.end() };
}
