import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect, createServer } from "node:net";
import { EgressProxy } from "@sandkit/core/network";
import { median } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { requestRow, streamRows } from "./rows.mjs";
import { startHost } from "./start-host.mjs";

/**
 * What the proxy of a sandbox adds to requests and downloads, against the same host asked directly. The client and the
 * proxy share a process.
 * @param {import("../scale.mjs").Scale} scale
 * @param {(message: string) => void} progress
 */
export async function measureNetwork({ calls, streamMiB }, progress) {
  const host = await startHost();
  const { port } = host;
  const proxy = new EgressProxy({ allow: [`127.0.0.1:${port}`] });
  const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => proxy.accept(socket));
  await once(door.listen(0, "127.0.0.1"), "listening");
  const address = door.address();
  const proxyPort = typeof address === "object" && address ? address.port : 0;
  try {
    const ways = { port, proxyPort };
    progress(`${calls} requests each way`);
    const requests = await requestFigures(ways, calls);
    progress(`${streamMiB} MiB each way`);
    return { rows: [...requests, ...(await streamFigures(ways, streamMiB))] };
  } finally {
    door.close();
    await proxy.close();
    host.stop();
  }
}

/** @typedef {{ port: number, proxyPort: number }} Ways */

/**
 * @param {Ways} ways
 * @param {number} calls
 */
async function requestFigures({ port, proxyPort }, calls) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = `http://127.0.0.1:${port}/1000`;
  const direct = () => read({ port, path: "/1000", agent });
  const proxied = () => read({ port: proxyPort, path: url, agent, headers: { host: `127.0.0.1:${port}` } });
  const tunnelled = (/** @type {number} */ to) => download(to, to === port ? undefined : port, 1000);
  const kept = await inTurns(calls, direct, proxied);
  const fresh = await inTurns(
    calls,
    () => tunnelled(port),
    () => tunnelled(proxyPort),
  );
  agent.destroy();
  return [
    requestRow("network.request", "a request, on a kept connection", kept),
    requestRow("network.tunnel", "a connection and a request, by CONNECT", fresh),
  ];
}

/**
 * @param {Ways} ways
 * @param {number} mebibytes
 */
async function streamFigures({ port, proxyPort }, mebibytes) {
  const bytes = mebibytes * 2 ** 20;
  const raw = await timed(() => download(port, undefined, bytes));
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  const sandkit = await timed(() => download(proxyPort, port, bytes));
  clearInterval(watch);
  return [
    ...streamRows("network", "", mebibytes, { raw, sandkit }),
    {
      id: "network.memory",
      what: "  memory that the process grows by",
      unit: /** @type {const} */ ("MiB"),
      sandkit: (most - before) / 2 ** 20,
      target: 64,
    },
  ];
}

/**
 * Medians of both, one after the other each time.
 * @param {number} rounds
 * @param {() => Promise<void>} raw
 * @param {() => Promise<void>} ours
 */
async function inTurns(rounds, raw, ours) {
  /** @type {{ raw: number[], ours: number[] }} */
  const found = { raw: [], ours: [] };
  for (let round = 0; round < rounds + 5; round += 1) {
    const times = { raw: await timed(raw), ours: await timed(ours) };
    // The first are of code that is not warm.
    if (round < 5) continue;
    found.raw.push(times.raw);
    found.ours.push(times.ours);
  }
  return { raw: median(found.raw), sandkit: median(found.ours) };
}

/**
 * @param {import("node:http").RequestOptions} options
 * @returns {Promise<void>}
 */
function read(options) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", ...options }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`answered with ${answer.statusCode}`));
      answer.resume().once("end", resolve);
    }).once("error", reject);
  });
}

/**
 * So many bytes on a connection of their own.
 * @param {number} to Port to connect with.
 * @param {number | undefined} tunnelTo Port of the host, where the first is a proxy's.
 * @param {number} bytes
 */
async function download(to, tunnelTo, bytes) {
  const socket = connect({ port: to, host: "127.0.0.1", noDelay: true });
  if (tunnelTo !== undefined) {
    socket.write(`CONNECT 127.0.0.1:${tunnelTo} HTTP/1.1\r\n\r\n`);
    const [answer] = await once(socket, "data");
    if (!String(answer).startsWith("HTTP/1.1 200")) throw new Error(String(answer));
  }
  socket.write(`GET /${bytes} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
  let received = 0;
  for await (const chunk of socket) received += chunk.length;
  if (received < bytes) throw new Error(`${received} of ${bytes} bytes arrived`);
}
