import { setTimeout as pause } from "node:timers/promises";
import { chart } from "../report.mjs";
import { median, quantile } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { rawExec } from "./raw-container.mjs";
import { rivalExec } from "./rival.mjs";
import { settle } from "./settle.mjs";

const parallel = 16;
/** Ours is measured more often, one after another: a 99th percentile needs it. */
const oursPerRound = 20;
/** How long nothing has happened before an exec after a rest. */
const restMs = 300;
/** One rest for so many rounds. */
const roundsPerRest = 10;

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * @param {Places} places
 * @param {number} rounds
 */
export async function execFigures({ raw, rival, sandbox }, rounds) {
  /** @type {Record<"raw" | "rival" | "ours", number[]>} */
  const times = { raw: [], rival: [], ours: [] };
  const own = async () => expectOk(await sandbox.exec(["true"]));
  /** @type {typeof times} */
  const rested = { raw: [], rival: [], ours: [] };
  // The first of each is not counted: it warms the way up.
  for (let round = -1; round < rounds; round++) {
    const rawMs = await timed(() => rawExec(raw, ["true"]));
    await settle("exec");
    const rivalMs = await timed(() => rivalExec(rival, "true"));
    await settle("exec");
    const oursMs = [];
    for (let call = 0; call < oursPerRound; call++) oursMs.push(await timed(own));
    if (round < 0) continue;
    times.raw.push(rawMs);
    times.rival.push(rivalMs);
    times.ours.push(...oursMs);
    if (round % roundsPerRest !== 0) continue;
    await pause(restMs);
    rested.raw.push(await timed(() => rawExec(raw, ["true"])));
    await pause(restMs);
    rested.rival.push(await timed(() => rivalExec(rival, "true")));
    await pause(restMs);
    rested.ours.push(await timed(own));
  }
  const row = (/** @type {string} */ id, /** @type {string} */ what, /** @type {number} */ share) => ({
    id,
    what,
    unit: /** @type {const} */ ("ms"),
    raw: quantile(times.raw, share),
    rival: quantile(times.rival, share),
    sandkit: quantile(times.ours, share),
  });
  const rest = {
    id: "exec.rested",
    what: `the same after ${restMs} ms of rest, median`,
    unit: /** @type {const} */ ("ms"),
    raw: median(rested.raw),
    rival: median(rested.rival),
    sandkit: median(rested.ours),
  };
  const bars = [
    { name: "raw docker", value: median(times.raw) },
    { name: "@mastra/docker", value: median(times.rival) },
    { name: "Sandkit", value: median(times.ours) },
  ];
  return {
    rows: [
      { ...row("exec.p50", "exec of `true`, one after another, median", 0.5), target: 3, minRatio: 20 },
      { ...row("exec.p99", "exec of `true`, 99th percentile", 0.99), target: 20 },
      rest,
    ],
    chart: chart(bars),
  };
}

/**
 * @param {Places} places
 * @param {number} rounds
 */
export async function parallelFigures({ raw, rival, sandbox }, rounds) {
  const sides = {
    raw: () => rawExec(raw, ["true"]),
    rival: () => rivalExec(rival, "true"),
    ours: async () => expectOk(await sandbox.exec(["true"])),
  };
  /** @type {Record<keyof typeof sides, number[]>} */
  const times = { raw: [], rival: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of /** @type {const} */ (["raw", "rival", "ours"])) {
      const all = () => Promise.all(Array.from({ length: parallel }, () => sides[side]()));
      times[side].push(await timed(all));
      await settle("exec");
    }
  }
  return {
    id: "exec.parallel",
    what: `${parallel} execs at one time, all of them`,
    unit: /** @type {const} */ ("ms"),
    raw: median(times.raw),
    rival: median(times.rival),
    sandkit: median(times.ours),
    target: 40,
  };
}

/**
 * @param {Places} places
 * @param {number} cells
 */
export async function cellFigure({ raw, rival, sandbox }, cells) {
  const program = ["python3", "-c", "print(1+1)"];
  /** @type {number[]} */
  const rawTimes = [];
  const rivalTimes = [];
  const ours = [];
  for (let cell = -10; cell < cells; cell++) {
    const time = await timed(async () => {
      const { value } = await sandbox.runCode("1+1");
      if (value !== 2) throw new Error(`the cell 1+1 gave ${value}`);
    });
    if (cell >= 0) ours.push(time);
    // A fresh interpreter each time is all that the others have: a tenth as many of those will do.
    if (cell % 10 !== 0) continue;
    rawTimes.push(await timed(() => rawExec(raw, program)));
    await settle("exec");
    rivalTimes.push(await timed(() => rivalExec(rival, program[0] ?? "", program.slice(1))));
    await settle("exec");
  }
  return {
    id: "cell",
    what: "Python `1+1`: a cell; the others: a new interpreter",
    unit: /** @type {const} */ ("ms"),
    raw: median(rawTimes),
    rival: median(rivalTimes),
    sandkit: median(ours),
    target: 2,
  };
}

/** @param {import("@sandkit/core").ExecResult} result */
function expectOk({ ok, reason, exitCode }) {
  if (!ok) throw new Error(`exec of true: ${reason}, exit code ${exitCode}`);
}
