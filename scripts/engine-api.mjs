import { existsSync } from "node:fs";
import { request } from "node:http";

const defaultSocket = "/var/run/docker.sock";

/**
 * Where the engine listens: `DOCKER_HOST` (`unix://` or `tcp://`), else Docker's own socket.
 * @returns {{ socketPath: string } | { host: string, port: number }}
 */
export function engineAddress() {
  const given = process.env.DOCKER_HOST;
  if (!given) return { socketPath: defaultSocket };
  const url = new URL(given);
  if (url.protocol === "unix:") return { socketPath: url.pathname };
  return { host: url.hostname, port: Number(url.port || 2375) };
}

/**
 * One call to the engine, without its command line.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: import("node:stream").Readable, timeoutMs?: number }} [options]
 * @returns {Promise<{ status: number, text: string }>}
 */
export function askEngine(method, path, { body, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const headers = body ? { "content-type": "application/x-tar" } : { "content-length": 0 };
    // A connection of its own: those that Node keeps for later give up after five idle seconds, and an import takes longer.
    const options = { ...engineAddress(), agent: false, method, path, headers, timeout: timeoutMs ?? 0 };
    const call = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("error", reject).on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on("error", reject);
    call.on("timeout", () => call.destroy(new Error(`the engine did not answer ${path} within ${timeoutMs} ms`)));
    if (body) body.on("error", (error) => call.destroy(error)).pipe(call);
    else call.end();
  });
}

/** The version of the engine that answers, or why none does. */
export async function findEngine() {
  const address = engineAddress();
  if ("socketPath" in address && !existsSync(address.socketPath)) return { reason: `no ${address.socketPath}` };
  try {
    const { status, text } = await askEngine("GET", "/version", { timeoutMs: 5000 });
    if (status === 200) return { version: String(JSON.parse(text).Version) };
    return { reason: `it answers ${status}: ${text.trim()}` };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}
