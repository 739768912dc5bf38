import type { SandboxChild } from "../child-process.js";
import { RequestDesk } from "./request-desk.js";
import { SandboxNetwork } from "./sandbox-network.js";

/** Connects the guests of a sandbox with the hosts of a list. */
export function openDesk(child: SandboxChild, allow: readonly string[]): RequestDesk {
  const desk = new RequestDesk(new SandboxNetwork(allow), (message) => child.tell(message));
  child.onRequest((message) => desk.receive(message));
  void child.exited.then(() => desk.close());
  return desk;
}
