import Dockerode from "dockerode";
import { engineAddress } from "../../scripts/engine-api.mjs";

/** On every container that a benchmark makes; its value is the process that made it. */
export const label = "sandkit-bench";

/** The engine as the raw measurements use it: through a client of this folder, not through Sandkit's. */
export const engine = new Dockerode(engineAddress());

/**
 * The containers with a label, in any state.
 * @param {string} wanted `name` or `name=value`.
 */
function containersWith(wanted) {
  return engine.listContainers({ all: true, filters: { label: [wanted] } });
}

/** Removes what this run has made, and what runs that were killed have left. */
export async function cleanUp() {
  const ours = await containersWith(label);
  const own = await containersWith(`sandkit.label.bench=${process.pid}`);
  const left = ours.filter(({ Labels }) => Number(Labels[label]) === process.pid || !isAlive(Number(Labels[label])));
  await Promise.all([...left, ...own].map(({ Id }) => removeContainer(Id)));
}

/**
 * Removes a container, whatever it does; content when it is gone already.
 * @param {string} id
 */
export async function removeContainer(id) {
  try {
    await engine.getContainer(id).remove({ force: true, v: true });
  } catch (error) {
    // Gone, or on its way out by itself.
    const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
    if (status !== 404 && status !== 409) throw error;
  }
}

/**
 * How many processes of a container have a word on their command line, as its engine sees them from outside.
 * @param {string} id
 * @param {string} word
 */
export async function countProcesses(id, word) {
  const { Processes } = await engine.getContainer(id).top({ ps_args: "-eo pid,args" });
  return Processes.filter((/** @type {string[]} */ fields) => fields.join(" ").includes(word)).length;
}

/**
 * The id of the container that a sandbox of ours lives in.
 * @param {import("@sandkit/core").Sandbox} sandbox
 */
export async function containerOf(sandbox) {
  const [found] = await containersWith(`sandkit.id=${sandbox.ref.id}`);
  if (!found) throw new Error(`the engine does not know the container of sandbox ${sandbox.ref.id}`);
  return found.Id;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code !== "ESRCH";
  }
}
