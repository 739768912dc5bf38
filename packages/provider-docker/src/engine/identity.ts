import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type Dockerode from "dockerode";

/** Who answers at an address, by the headers of its answer. */
export interface EngineIdentity {
  readonly product: "Docker" | "Podman";
  readonly version: string;
  /** Of Docker's API, such as `1.41`. */
  readonly api: string;
}

/** Podman calls its library by this name. */
const podman = /^Libpod\/(\S+)/;
/** The oldest version of the API that has all that is used here: Docker 20.10, Podman 4. */
const oldestApi = [1, 41] as const;

/** Something answers, and it is no engine that sandboxes can run on. */
export class UnfitEngine extends Error {
  override readonly name = "UnfitEngine";
}

/**
 * Asks whether somebody is there, and who.
 * @throws UnfitEngine for what is too old, or runs no Linux; whatever the engine's client throws
 */
export async function identify(dockerode: Dockerode, signal: AbortSignal): Promise<EngineIdentity> {
  const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    const request = { path: "/_ping", method: "GET", isStream: true, abortSignal: signal };
    const statusCodes = { 200: true, 500: "server error" };
    dockerode.modem.dial({ ...request, statusCodes }, (error, answer) => {
      if (error) return reject(error);
      if (!(answer instanceof Readable) || !("headers" in answer)) return reject(new Error("no answer of an engine"));
      // The signal may still end it, after everything is known.
      answer.on("error", () => undefined).resume();
      resolve(answer.headers as IncomingHttpHeaders);
    });
  });
  return identityOf(headers);
}

function identityOf(headers: IncomingHttpHeaders): EngineIdentity {
  const server = String(headers.server ?? "");
  const api = String(headers["api-version"] ?? "");
  if (api === "") throw new UnfitEngine("what answers there is no container engine");
  const version = podman.exec(server)?.[1] ?? /^Docker\/(\S+)/.exec(server)?.[1] ?? "unknown";
  const product = podman.test(server) ? "Podman" : "Docker";
  const called = `${product} ${version}`;
  if (headers.ostype === "windows") throw new UnfitEngine(`${called} runs Windows containers: switch it to Linux ones`);
  const [major = 0, minor = 0] = api.split(".").map(Number);
  const [leastMajor, leastMinor] = oldestApi;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
    const least = oldestApi.join(".");
    throw new UnfitEngine(
      `${called} is too old (API ${api}, ${least} is needed): update it to Docker 20.10 or Podman 4`,
    );
  }
  return { product, version, api };
}
