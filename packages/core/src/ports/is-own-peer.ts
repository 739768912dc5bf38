import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

const loopback = "127.0.0.1";
const established = "01";

/**
 * Whether the program at the other end of a connection over 127.0.0.1 is surely of this program's user, or of root.
 * Only Linux tells; elsewhere it is never sure.
 */
export async function isOwnPeer(socket: Socket): Promise<boolean> {
  const { remoteAddress, remotePort, localPort } = socket;
  // Whoever binds another address of the loopback can have the port of somebody else's connection.
  if (process.platform !== "linux" || remoteAddress !== loopback) return false;
  if (remotePort === undefined || localPort === undefined) return false;
  let table: string;
  try {
    table = await readFile("/proc/net/tcp", "latin1");
  } catch {
    // Not shown here, so not sure.
    return false;
  }
  const ends = `0100007F:${hex(remotePort)} 0100007F:${hex(localPort)} ${established} `;
  const line = table.split("\n").find((each) => each.includes(ends));
  const [, , , , , , , uid, , inode] = line?.trim().split(/\s+/) ?? [];
  // One that nobody holds any more is shown as root's.
  if (uid === undefined || inode === undefined || inode === "0") return false;
  return Number(uid) === process.getuid?.() || Number(uid) === 0;
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}
