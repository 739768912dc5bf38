import { findEngine } from "../scripts/engine-api.mjs";

/** @typedef {import("./report.mjs").Part & { chart?: string }} Measured */
/** @typedef {{ scale: import("./scale.mjs").Scale, image: string, progress: (message: string) => void }} Settings */
/** What a part gives: its figures, or why it cannot run here. @typedef {Measured | { skipped: string }} Outcome */

/**
 * The parts of the benchmark, by the name that chooses them.
 * @type {Readonly<Record<string, (settings: Settings) => Promise<Outcome>>>}
 */
export const parts = { wasm: wasmPart, mcp: mcpPart, docker: dockerPart };

/** @param {Settings} settings */
async function wasmPart({ scale, progress }) {
  const { coldStarts } = await import("./cold-start.mjs");
  const { wasmSteps } = await import("./wasm-steps.mjs");
  progress(`${scale.wasm} cold starts of each side`);
  const { naive, deno, sandkit } = await coldStarts(scale.wasm);
  progress("sandboxes and interpreters in a running program");
  const steps = await wasmSteps(scale.wasm);
  const [ms, mebibytes] = /** @type {const} */ (["ms", "MiB"]);
  const inMiB = (/** @type {number} */ bytes) => bytes / 2 ** 20;
  return {
    name: "wasm",
    columns: ["", "Pyodide in Node", "Pyodide in Deno", "Sandkit (wasm)", "Node ÷ ours", "target", ""],
    rows: [
      {
        id: "first",
        what: "process start → first Python result",
        unit: ms,
        raw: naive.firstMs,
        rival: deno.firstMs,
        sandkit: sandkit.firstMs,
        target: 450,
        minRatio: 5,
      },
      {
        id: "later",
        what: "a later cell",
        unit: ms,
        raw: naive.laterMs,
        rival: deno.laterMs,
        sandkit: sandkit.laterMs,
        target: 2,
      },
      {
        id: "created",
        what: "new sandbox in a running program → result",
        unit: ms,
        sandkit: steps.createdMs,
        target: 350,
      },
      { id: "pooled", what: "sandbox from the pool → result", unit: ms, sandkit: steps.pooledMs, target: 10 },
      {
        id: "further",
        what: "further interpreter, none kept warm → result",
        unit: ms,
        sandkit: steps.furtherMs,
        target: 200,
      },
      {
        id: "memory",
        what: "resident memory, whole process tree",
        unit: mebibytes,
        raw: inMiB(naive.rssBytes),
        rival: inMiB(deno.rssBytes),
        sandkit: inMiB(sandkit.rssBytes),
      },
      {
        id: "pooled-memory",
        what: "memory of a pooled sandbox",
        unit: mebibytes,
        sandkit: inMiB(steps.pooledBytes),
        target: 110,
      },
      {
        id: "further-memory",
        what: "memory of a further interpreter",
        unit: mebibytes,
        sandkit: inMiB(steps.furtherBytes),
        target: 60,
      },
    ],
    notes: [
      `medians of ${scale.wasm} runs, those of processes interleaved; the last two rows count pages that processes share by their share`,
    ],
  };
}

/** @param {Settings} settings */
async function mcpPart({ scale, progress }) {
  const { mcpOverhead } = await import("./mcp-overhead.mjs");
  progress(`${scale.calls} cells of each side`);
  const { sdkMs, mcpMs, toolTokens } = await mcpOverhead(scale.calls);
  return {
    name: "mcp",
    columns: ["", "SDK", "MCP over stdio", "ratio"],
    rows: [
      { id: "cell", what: "a cell", unit: /** @type {const} */ ("ms"), raw: sdkMs, sandkit: mcpMs },
      { id: "tokens", what: "tools/list, tokens (o200k)", unit: /** @type {const} */ ("count"), sandkit: toolTokens },
    ],
    notes: [`medians of ${scale.calls} calls in turns`],
  };
}

/** @param {Settings} settings */
async function dockerPart({ scale, image, progress }) {
  const { reason, version } = await findEngine();
  if (reason) return { skipped: `no container engine answers (${reason}): start Docker, or set DOCKER_HOST` };
  const { engine } = await import("./docker/bench-engine.mjs");
  const { measureDocker } = await import("./docker/measure-docker.mjs");
  const here = await engine.listImages({ filters: { reference: [image] } });
  if (here.length === 0) {
    return { skipped: `image ${image} is not on the engine: --image NAME takes another one with Python 3.9 or newer` };
  }
  const { rows, chart } = await measureDocker(image, scale, progress);
  return {
    name: "docker",
    columns: ["", "raw docker", "@mastra/docker", "Sandkit", "raw ÷ ours", "target", ""],
    rows,
    chart,
    notes: [`engine ${version}, image ${image}; in turns in one run; medians where nothing else is said`],
  };
}
