import { findEngine } from "../scripts/engine-api.mjs";

/** @typedef {import("./report.mjs").Part & { chart?: string }} Measured */
/** @typedef {{ scale: import("./scale.mjs").Scale, image: string, progress: (message: string) => void }} Settings */
/** What a part gives: its figures, or why it cannot run here. @typedef {Measured | { skipped: string }} Outcome */

/**
 * The parts of the benchmark, by the name that chooses them.
 * @type {Readonly<Record<string, (settings: Settings) => Promise<Outcome>>>}
 */
export const parts = {
  wasm: wasmPart,
  javascript: javaScriptPart,
  mcp: mcpPart,
  network: networkPart,
  docker: dockerPart,
  clouds: cloudsPart,
};

/** @param {Settings} settings */
async function wasmPart({ scale, progress }) {
  const { measureWasm } = await import("./measure-wasm.mjs");
  return measureWasm(scale.wasm, progress);
}

/** @param {Settings} settings */
async function javaScriptPart({ scale, progress }) {
  const { measureJavaScript } = await import("./measure-javascript.mjs");
  return measureJavaScript(scale.wasm, scale.cells, progress);
}

/** @param {Settings} settings */
async function mcpPart({ scale, progress }) {
  const { mcpOverhead } = await import("./mcp-overhead.mjs");
  progress(`${scale.calls} cells of each side`);
  const { sdkMs, stdioMs, httpMs, toolTokens, handshakeMs, crowd } = await mcpOverhead(scale.calls);
  const ms = /** @type {const} */ ("ms");
  const count = /** @type {const} */ ("count");
  return {
    name: "mcp",
    columns: ["", "SDK", "MCP", "SDK ÷ MCP", "target", ""],
    rows: [
      {
        id: "cell",
        what: "a cell, over stdio",
        unit: ms,
        raw: sdkMs,
        sandkit: stdioMs,
        target: Number((sdkMs + 3).toFixed(1)),
      },
      { id: "cell.http", what: "a cell, over HTTP", unit: ms, raw: sdkMs, sandkit: httpMs },
      { id: "handshake", what: "start → initialize, no engine", unit: ms, sandkit: handshakeMs, target: 300 },
      { id: "tokens", what: "tools/list, tokens (o200k)", unit: count, sandkit: toolTokens, target: 1_200 },
      { id: "crowd.lost", what: "100 clients × 20 calls: answers lost", unit: count, sandkit: crowd.lost, target: 0 },
      { id: "crowd.rate", what: "100 clients × 20 calls: calls a second", unit: count, sandkit: crowd.callsPerSecond },
    ],
    notes: [`medians of ${scale.calls} calls in turns`],
  };
}

/** @param {Settings} settings */
async function networkPart({ scale, image, progress }) {
  const { measureNetwork } = await import("./network/measure-network.mjs");
  const { rows } = await measureNetwork(scale, progress);
  const notes = ["a host on this machine in a process of its own; client and proxy in one; medians, in turns"];
  const { skipped, version } = await findImage(image);
  if (skipped) notes.push(`from a container: skipped: ${skipped}`);
  else {
    const { boxFigures } = await import("./network/box-figures.mjs");
    rows.push(...(await boxFigures(image, scale, progress)));
    notes.push(`from a container: engine ${version}, image ${image}; direct: on the engine's bridge`);
  }
  return {
    name: "network",
    columns: ["", "direct", "by the proxy", "direct ÷ proxy", "target", ""],
    rows,
    notes,
  };
}

/** @param {Settings} settings */
async function dockerPart({ scale, image, progress }) {
  const { skipped, version } = await findImage(image);
  if (skipped) return { skipped };
  const { measureDocker } = await import("./docker/measure-docker.mjs");
  const { rows, chart } = await measureDocker(image, scale, progress);
  return {
    name: "docker",
    columns: ["", "raw docker", "@mastra/docker", "Sandkit", "raw ÷ ours", "target", ""],
    rows,
    chart,
    notes: [`engine ${version}, image ${image}; in turns in one run; medians where nothing else is said`],
  };
}

/** @param {Settings} settings */
async function cloudsPart({ scale, image, progress }) {
  const { skipped, version } = await findImage(image);
  if (skipped) return { skipped };
  const { measureClouds } = await import("./clouds/measure-clouds.mjs");
  const { rows } = await measureClouds(image, scale, progress);
  return {
    name: "clouds",
    columns: ["", "the SDK alone", "Sandkit", "raw ÷ ours", "target", ""],
    rows,
    notes: [`both at the same emulated cloud over engine ${version}, image ${image}; in turns in one run; medians`],
  };
}

/**
 * Why nothing can be measured on the engine, or its version.
 * @param {string} image
 * @returns {Promise<{ skipped?: string, version?: string }>}
 */
async function findImage(image) {
  const { reason, version } = await findEngine();
  if (reason) return { skipped: `no container engine answers (${reason}): start Docker, or set DOCKER_HOST` };
  const { engine } = await import("./docker/bench-engine.mjs");
  const here = await engine.listImages({ filters: { reference: [image] } });
  if (here.length > 0) return { version };
  return { skipped: `image ${image} is not on the engine: --image NAME takes another one with Python 3.9 or newer` };
}
