import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { containerOf, engine } from "../docker/bench-engine.mjs";
import { median, quantile } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { requestRow, streamRows } from "./rows.mjs";
import { startHost } from "./start-host.mjs";

const source = readFileSync(new URL("guest/ask.py", import.meta.url), "utf8");
/** Where the agent of a container listens for what is to go out. */
const proxyPort = 3128;
/** Requests of each kind that one way makes before the other has its turn. */
const perTurn = 20;
/** Execs at rest, against which those during a download stand. */
const restingExecs = 50;

/** @typedef {import("@sandkit/core").Sandbox} Sandbox */
/** @typedef {{ kept: number[], fresh: number[], stream: number }} Times */
/** Has a program in a container ask the host. @typedef {(asked: { calls?: number, bytes?: number }) => Promise<Times>} Way */
/** @typedef {{ ours: Way, raw: Way | undefined }} Ways */

/**
 * What programs of a container find of the proxy: through its agent, the engine and this process, beside the engine's
 * bridge where that leads to this machine.
 * @param {string} image
 * @param {import("../scale.mjs").Scale} scale
 * @param {(message: string) => void} progress
 */
export async function boxFigures(image, { calls, streamMiB }, progress) {
  const common = { images: { python: image }, pull: /** @type {const} */ ("never") };
  const labels = { bench: String(process.pid) };
  /** @type {Sandbox[]} */
  const made = [];
  /** @type {Awaited<ReturnType<typeof startHost>> | undefined} */
  let host;
  try {
    const bridged = await createSandbox(docker({ ...common, unsafeBridge: true }), { labels, network: "full" });
    made.push(bridged);
    const bridge = await bridgeAddress(bridged);
    host = await startHost(bridge);
    const { address, port } = host;
    const proxied = await createSandbox(docker(common), { labels, network: { allow: [`${address}:${port}`] } });
    made.push(proxied);
    /** @type {Ways} */
    const ways = {
      ours: (asked) => ask(proxied, [address, port, proxyPort], asked),
      raw: bridge ? (asked) => ask(bridged, [address, port, "-"], asked) : undefined,
    };
    progress(`${calls} requests each way, from a container`);
    const requests = await requestFigures(ways, calls);
    progress(`${streamMiB} MiB each way, from a container`);
    return [...requests, ...(await streamFigures(ways, proxied, streamMiB))];
  } finally {
    await Promise.all(made.map((sandbox) => sandbox.destroy()));
    host?.stop();
  }
}

/**
 * @param {Ways} ways
 * @param {number} calls
 */
async function requestFigures(ways, calls) {
  /** @type {Record<keyof Ways, Times[]>} */
  const found = { raw: [], ours: [] };
  for (let done = 0; done < calls; done += perTurn) {
    if (ways.raw) found.raw.push(await ways.raw({ calls: perTurn }));
    found.ours.push(await ways.ours({ calls: perTurn }));
  }
  const medians = (/** @type {"kept" | "fresh"} */ kind) => ({
    raw: ways.raw && median(found.raw.flatMap((times) => times[kind])),
    sandkit: median(found.ours.flatMap((times) => times[kind])),
  });
  return [
    requestRow("network.box.request", "from a container: a request, on a kept connection", medians("kept")),
    requestRow("network.box.tunnel", "from a container: a connection and a request, by CONNECT", medians("fresh")),
  ];
}

/**
 * @param {Ways} ways
 * @param {Sandbox} proxied
 * @param {number} mebibytes
 */
async function streamFigures(ways, proxied, mebibytes) {
  const bytes = mebibytes * 2 ** 20;
  const direct = await ways.raw?.({ bytes });
  const resting = await execTimes(proxied, (count) => count < restingExecs);
  const { stream } = await ways.ours({ bytes });
  let isOver = false;
  const another = ways.ours({ bytes }).finally(() => {
    isOver = true;
  });
  const busy = await execTimes(proxied, () => !isOver);
  await another;
  return [
    ...streamRows("network.box", "from a container: ", mebibytes, { raw: direct?.stream, sandkit: stream }),
    {
      id: "network.box.exec",
      what: "  exec of `true` meanwhile, 95th percentile (direct: at rest)",
      unit: /** @type {const} */ ("ms"),
      raw: quantile(resting, 0.95),
      sandkit: quantile(busy, 0.95),
    },
  ];
}

/**
 * @param {Sandbox} sandbox
 * @param {readonly (string | number)[]} way Host, port, and the proxy's port or "-".
 * @param {{ calls?: number, bytes?: number }} asked
 * @returns {Promise<Times>}
 */
async function ask(sandbox, way, { calls = 0, bytes = 0 }) {
  const args = [...way, calls, bytes].map(String);
  const { ok, stdout, stderr } = await sandbox.exec(["python3", "-c", source, ...args], { timeoutMs: 600_000 });
  if (!ok) throw new Error(`asking the host from a container: ${stderr.text}`);
  return JSON.parse(stdout.text);
}

/**
 * @param {Sandbox} sandbox
 * @param {(count: number) => boolean} goesOn
 */
async function execTimes(sandbox, goesOn) {
  const times = [];
  while (goesOn(times.length)) times.push(await timed(() => sandbox.exec(["true"])));
  return times;
}

/**
 * Where a container on the engine's bridge reaches this machine; undefined where it does not.
 * @param {Sandbox} bridged
 */
async function bridgeAddress(bridged) {
  const { NetworkSettings } = await engine.getContainer(await containerOf(bridged)).inspect();
  const gateway = NetworkSettings.Networks.bridge?.Gateway;
  return gateway && (await isOwn(gateway)) ? gateway : undefined;
}

/**
 * Whether an address is one of this machine.
 * @param {string} address
 */
function isOwn(address) {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}
