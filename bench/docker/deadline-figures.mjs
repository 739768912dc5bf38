import { readFileSync } from "node:fs";
import { median } from "../statistics.mjs";
import { countProcesses } from "./bench-engine.mjs";
import { rivalCommand } from "./rival.mjs";

/** @typedef {import("./measure-docker.mjs").Places} Places */

const source = readFileSync(new URL("guest/children.sh", import.meta.url), "utf8");
const kinds = ["background", "setsid", "double-fork", "ignores-sigterm", "nohup"];
/** On the command line of every process that must be dead afterwards. */
const mark = "60600";
const atOneTime = 5;
const timeoutMs = 400;
/** A deadline that comes before the children says nothing of them: on a busy machine it is tried again, later. */
const longestTimeoutMs = 10_000;
const killGraceMs = 100;

/**
 * How long after deadline and grace a tree of twenty that ignores SIGTERM is dead, and what others leave of it.
 * @param {Places} places
 * @param {number} rounds
 */
export async function treeFigure(places, rounds) {
  const late = [];
  for (let round = 0; round < rounds; round++) {
    late.push(await runToDeadline(places, "tree"));
    await expectNobody(places);
  }
  return {
    id: "deadline.tree",
    what: "a tree of 20 that ignores SIGTERM: dead after deadline and grace",
    unit: /** @type {const} */ ("ms"),
    rival: `${await leftByRival(places, ["tree"])} live on`,
    sandkit: median(late),
    target: 250,
  };
}

/**
 * How many processes are alive when a command that ran into its deadline has settled, over every kind of child.
 * @param {Places} places
 * @param {number} timeouts
 * @param {(done: number) => void} progress
 */
export async function survivorFigure(places, timeouts, progress) {
  let survivors = 0;
  for (let done = 0; done < timeouts; done += atOneTime) {
    await Promise.all(kinds.slice(0, Math.min(atOneTime, timeouts - done)).map((kind) => runToDeadline(places, kind)));
    survivors += await countProcesses(places.model.Id, mark);
    progress(done + atOneTime);
  }
  return {
    id: "deadline.survivors",
    what: `processes alive after ${timeouts} timeouts (@mastra/docker: after ${kinds.length})`,
    unit: /** @type {const} */ ("count"),
    rival: await leftByRival(places, kinds),
    sandkit: survivors,
    target: 0,
  };
}

/**
 * How long the call took beyond its deadline and grace, in milliseconds.
 * @param {Places} places
 * @param {string} kind
 */
async function runToDeadline({ sandbox }, kind) {
  for (let timeout = timeoutMs; timeout <= longestTimeoutMs; timeout *= 2) {
    const start = performance.now();
    const { reason, stdout, stderr } = await sandbox.exec(["sh", "-c", source, "sh", kind], {
      timeoutMs: timeout,
      killGraceMs,
    });
    const lateMs = performance.now() - start - timeout - killGraceMs;
    if (reason !== "timeout" || stderr.text !== "") {
      throw new Error(`the program with a child of kind ${kind}: ${reason}: ${stderr.text}`);
    }
    if (stdout.text === "started\n") return lateMs;
  }
  throw new Error(`the program with a child of kind ${kind} did not start within ${longestTimeoutMs} ms`);
}

/** @param {Places} places */
async function expectNobody({ model }) {
  const alive = await countProcesses(model.Id, mark);
  if (alive > 0) throw new Error(`${alive} processes are alive after a deadline`);
}

/**
 * What is alive in a container of @mastra/docker once its call has come back, and ended after that.
 * @param {Places} places
 * @param {readonly string[]} which
 */
async function leftByRival({ rival }, which) {
  const before = await countProcesses(rival.container.id, mark);
  for (const kind of which) await rivalCommand(rival, "sh", ["-c", source, "sh", kind], { timeout: timeoutMs });
  return (await countProcesses(rival.container.id, mark)) - before;
}
