import type { SandboxError } from "../errors.js";
import type { AgentConnection, AgentReply } from "./connection.js";
import { type ErrnoContext, fromErrno } from "./errno.js";
import type { AgentError, AgentRequest } from "./protocol.js";

/**
 * Asks for something that is over with its answer, and gives that.
 * @throws SandboxError for what the agent refuses, and once the connection is lost
 */
export async function ask(connection: AgentConnection, request: AgentRequest, about: ErrnoContext): Promise<unknown> {
  const stream = connection.open(request);
  try {
    return answerOf(await stream.reply, about);
  } finally {
    connection.over(stream);
  }
}

/** What the agent answered. @throws SandboxError for what it refuses */
export function answerOf(reply: AgentReply, about: ErrnoContext): unknown {
  if ("ok" in reply) return reply.ok;
  throw refusal(reply.error, about);
}

/** The error of the contract for what the agent refuses; about another path, where it names one. */
export function refusal({ errno, message, path }: AgentError, about: ErrnoContext): SandboxError {
  const subject = path === undefined ? about.subject : JSON.stringify(path);
  return fromErrno(errno, { ...about, subject, cause: new Error(message) });
}
