import { Duplex } from "node:stream";
import type Dockerode from "dockerode";

/** Statuses of an upgrade, and what the others are called. */
const statusCodes = {
  101: true,
  200: true,
  400: "bad parameter",
  404: "no such container",
  409: "conflict",
  500: "server error",
};

/** Attaches to all streams of a container, before it is started, so that nothing is missed. */
export function attachContainer(dockerode: Dockerode, container: string): Promise<Duplex> {
  // A body of no bytes gives `Content-Length: 0`: what else dockerode would send, Podman hands to the program's stdin.
  return hijack(dockerode, {
    path: `/containers/${container}/attach?stream=1&stdin=1&stdout=1&stderr=1&`,
    file: Buffer.alloc(0),
  });
}

/** Starts an exec that was created, and attaches to its streams. */
export function startExec(dockerode: Dockerode, exec: string): Promise<Duplex> {
  return hijack(dockerode, {
    path: `/exec/${exec}/start`,
    options: { _body: { Detach: false, Tty: false } },
  });
}

function hijack(
  dockerode: Dockerode,
  request: { readonly path: string; readonly file?: Buffer; readonly options?: object },
) {
  return new Promise<Duplex>((resolve, reject) => {
    dockerode.modem.dial({ method: "POST", hijack: true, isStream: true, statusCodes, ...request }, (error, stream) => {
      if (error) return reject(error);
      if (!(stream instanceof Duplex)) return reject(new Error("the engine did not upgrade the connection"));
      // Nobody else listens yet; a socket that breaks between two awaits must not end the process.
      stream.on("error", () => stream.destroy());
      resolve(stream);
    });
  });
}
