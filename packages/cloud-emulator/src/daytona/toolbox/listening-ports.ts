import type { EmulatedBox } from "../../emulated-box.js";
import { run } from "./run.js";

/** State of a socket that waits for connections, in the kernel's tables. */
const listening = "0A";

/** TCP ports that something in the box listens on, in order. */
export async function listeningPorts(box: EmulatedBox): Promise<number[]> {
  // The second table is missing where there is no IPv6.
  const { stdout } = await run(box, ["cat", "/proc/net/tcp", "/proc/net/tcp6"]);
  const ports = new Set<number>();
  for (const line of stdout.toString("latin1").split("\n")) {
    const [, address = "", , state] = line.trim().split(/\s+/);
    if (state === listening) ports.add(Number.parseInt(address.split(":")[1] ?? "", 16));
  }
  return [...ports].sort((a, b) => a - b);
}
