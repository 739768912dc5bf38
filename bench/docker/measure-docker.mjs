import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { balanceFigures } from "./balance-figures.mjs";
import { cleanUp, containerOf, engine } from "./bench-engine.mjs";
import { survivorFigure, treeFigure } from "./deadline-figures.mjs";
import { cellFigure, execFigures, parallelFigures } from "./exec-figures.mjs";
import { fileFigures } from "./file-figures.mjs";
import { ownerFigures } from "./owner-figures.mjs";
import { crowdFigure, eightFigures, poolFigure } from "./pool-figures.mjs";
import { startRaw } from "./raw-container.mjs";
import { startRival } from "./rival.mjs";
import { memoryFigure, startFigure } from "./start-figures.mjs";
import { streamFigures } from "./stream-figures.mjs";

/**
 * What is measured against each other, all of one image.
 * @typedef {Awaited<ReturnType<typeof startAll>>} Places
 */

/**
 * Every figure of the Docker provider, in one run. What it makes, it removes, also when it fails.
 * @param {string} image
 * @param {import("../scale.mjs").Scale} scale
 * @param {(message: string) => void} progress
 */
export async function measureDocker(image, scale, progress) {
  await cleanUp();
  try {
    progress(`starting a sandbox and its rivals on ${image}`);
    const places = await startAll(image);
    const memory = await memoryFigure(places);
    progress("execs, one after another");
    const exec = await execFigures(places, scale.execs);
    progress("execs, sixteen at a time");
    const parallel = await parallelFigures(places, scale.parallel);
    progress("cells");
    const cell = await cellFigure(places, scale.cells);
    progress("files");
    const small = await fileFigures(places, { name: "1 KiB", bytes: 1024, rounds: scale.files, target: 3 });
    const big = await fileFigures(places, { name: "50 MiB", bytes: 50 * 2 ** 20, rounds: scale.bigFiles });
    progress("starts");
    const start = await startFigure(places, scale.starts);
    const pool = await poolFigure(places, scale.starts);
    progress("starts, eight at a time");
    const eight = await eightFigures(places, scale.starts);
    progress("a crowd");
    const crowd = await crowdFigure(places);
    const balance = await balanceFigures(places, scale.starts, progress);
    progress("deadlines of a tree");
    const tree = await treeFigure(places, scale.trees);
    progress("deadlines of every kind of child");
    const survivors = await survivorFigure(places, scale.timeouts, (done) => {
      if (done % 100 === 0) progress(`${done} of ${scale.timeouts} timeouts`);
    });
    progress("owners that are killed");
    const owners = await ownerFigures(image, scale.kills, (done) => {
      if (done % 10 === 0) progress(`${done} of ${scale.kills} owners killed`);
    });
    const streams = await streamFigures(image, scale.streamMiB, progress);
    const rows = [
      ...exec.rows,
      parallel,
      cell,
      ...small,
      ...big,
      start,
      pool,
      ...eight,
      crowd,
      ...balance,
      tree,
      survivors,
      ...owners,
      ...streams,
      memory,
    ];
    return { rows, chart: exec.chart };
  } finally {
    await cleanUp();
  }
}

/** @param {string} image */
async function startAll(image) {
  const provider = docker({ images: { python: image } });
  const labels = { bench: String(process.pid) };
  const sandbox = await createSandbox(provider, { labels });
  const model = await engine.getContainer(await containerOf(sandbox)).inspect();
  const raw = await startRaw(model);
  const archives = await startRaw(model, { writableRoot: true });
  const rival = await startRival(image);
  return { image, provider, labels, sandbox, model, raw, archives, rival };
}
