import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type Dockerode from "dockerode";

/** The same engine through the same client, over connections that keep no program alive. */
export function quietly(dockerode: Dockerode): Dockerode {
  const { modem } = dockerode;
  // Its types do not tell of what it was made with.
  const given: unknown = Reflect.get(modem, "agent");
  const fresh = () => (Reflect.get(modem, "protocol") === "https" ? new SecureAgent() : new Agent());
  const agent = unreferenced(given instanceof Agent ? given : fresh(), fresh());
  return derived(dockerode, { modem: derived(modem, { agent }) });
}

/** Lets an agent connect as another one does, and lets go of what it gets. */
function unreferenced(model: Agent, agent: Agent): Agent {
  const connect = Reflect.get(model, "createConnection");
  return Object.assign(agent, {
    createConnection(options: unknown, done: (error: unknown, socket?: unknown) => void) {
      const later = (error: unknown, socket?: unknown) => done(error, unref(socket));
      return unref(Reflect.apply(connect, model, [options, later]));
    },
  });
}

function unref<T>(socket: T): T {
  if (socket && typeof socket === "object" && "unref" in socket && typeof socket.unref === "function") socket.unref();
  return socket;
}

/** An object like another one, with some members of its own. */
function derived<T extends object>(base: T, members: object): T {
  return Object.assign(Object.create(base), members);
}
