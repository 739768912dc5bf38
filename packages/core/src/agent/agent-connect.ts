import type { Duplex } from "node:stream";
import { SandboxError } from "../errors.js";
import type { SandboxRef } from "../provider.js";
import { answerOf } from "./ask.js";
import type { AgentConnection, AgentStream } from "./connection.js";
import { LaneDuplex } from "./lane-duplex.js";
import { lane } from "./protocol.js";

/**
 * Connects to a server in the box.
 * @throws SandboxError `UNAVAILABLE` while nothing listens there
 */
export async function agentConnect(connection: AgentConnection, port: number, ref: SandboxRef): Promise<Duplex> {
  let duplex: Duplex | undefined;
  const stream: AgentStream = connection.open(
    { op: "connect", port },
    {
      incoming: [lane.out],
      outgoing: [lane.in],
      onLost: (error) => duplex?.destroy(error),
      background: true,
    },
  );
  const where = { operation: "port", provider: ref.provider, sandboxId: ref.id };
  try {
    const reply = await stream.reply;
    if ("error" in reply && reply.error.errno === "ECONNREFUSED") {
      const message = `port ${port} of sandbox ${ref.id}: ${reply.error.message}: start a server there`;
      throw new SandboxError("UNAVAILABLE", message, { ...where, retryable: true });
    }
    answerOf(reply, { ...where, subject: `port ${port} of sandbox ${ref.id}` });
  } catch (error) {
    connection.over(stream);
    throw error;
  }
  duplex = LaneDuplex.over(stream, () => connection.over(stream));
  return duplex;
}
