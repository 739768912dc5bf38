import { once } from "node:events";
import type { Upgrade } from "../../http/listen.js";
import type { Toolbox } from "./toolbox.js";
import { acceptWebSocket, sendFrame } from "./web-socket.js";

interface Request {
  readonly code: string;
  readonly contextId?: string;
  readonly envs?: Readonly<Record<string, string>>;
  /** In seconds; 0: no limit. */
  readonly timeout?: number;
}

const defaultTimeoutSeconds = 600;
const defaultContext = "default";

/** A client has one piece of code run; how it ended is told by the close. */
export async function interpret(toolbox: Toolbox, upgrade: Upgrade): Promise<void> {
  const socket = await acceptWebSocket(upgrade);
  const first = Promise.race([once(socket, "message"), once(socket, "close").then(() => [])]);
  socket.resume();
  const [data] = await first;
  const request = parse(String(data));
  if (!request) return socket.close(1008, "the first message has to be JSON with code");
  const { code, contextId = defaultContext, envs = {}, timeout = defaultTimeoutSeconds } = request;
  const interpreter =
    toolbox.interpreters.get(contextId) ??
    (contextId === defaultContext ? await toolbox.createInterpreter(defaultContext, toolbox.workdir) : undefined);
  if (!interpreter?.info.active) return socket.close(1008, `context not found: ${contextId}`);
  const sent: Promise<void>[] = [];
  const end = await interpreter.execute(code, envs, timeout * 1_000, (message) => {
    sent.push(sendFrame(socket, JSON.stringify(message)));
  });
  await Promise.all(sent);
  if (end === "late") return socket.close(4008, "execution timed out");
  // That the interpreter died is told no other way than its success.
  socket.close(1000);
}

function parse(text: string): Request | undefined {
  try {
    const request = JSON.parse(text);
    return typeof request?.code === "string" ? request : undefined;
  } catch {
    return undefined;
  }
}
