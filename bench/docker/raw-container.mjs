import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { engine, label } from "./bench-engine.mjs";

/**
 * A container with the same limits and hardening as a sandbox of ours, used as the engine's API offers: the raw side of
 * every measurement.
 * @param {import("dockerode").ContainerInspectInfo} model The container of a sandbox of ours.
 * @param {{ writableRoot?: boolean }} [options] `writableRoot`: the archive API refuses a read-only root, and does not see a tmpfs.
 */
export async function startRaw(model, { writableRoot = false } = {}) {
  const container = await createRaw(model, ["sleep", "infinity"], {
    Init: true,
    ...(writableRoot && { ReadonlyRootfs: false, Tmpfs: {} }),
  });
  await container.start();
  return container;
}

/**
 * @param {import("dockerode").ContainerInspectInfo} model
 * @param {readonly string[]} command
 * @param {object} [overrides]
 */
function createRaw(model, command, overrides = {}) {
  return engine.createContainer({
    Image: model.Image,
    Entrypoint: [...command],
    Cmd: [],
    User: model.Config.User,
    Labels: { [label]: String(process.pid) },
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: { ...model.HostConfig, ...overrides },
  });
}

/**
 * A command in the three calls that it takes: create, start, inspect.
 * @param {import("dockerode").Container} container
 * @param {readonly string[]} command
 */
export async function rawExec(container, command) {
  const exec = await container.exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: true, stdin: false });
  const stdout = new PassThrough();
  /** @type {Buffer[]} */
  const chunks = [];
  stdout.on("data", (chunk) => chunks.push(chunk));
  engine.modem.demuxStream(stream, stdout, new PassThrough().resume());
  await finished(stream, { writable: false });
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`raw exec ${command.join(" ")}: exit code ${ExitCode}`);
  return Buffer.concat(chunks).toString();
}

/**
 * `docker run`: create, attach, start, until the first bytes of output.
 * @param {import("dockerode").ContainerInspectInfo} model
 */
export async function rawFirstOutput(model) {
  const container = await createRaw(model, ["echo", "ready"], { AutoRemove: true });
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  await container.start();
  await new Promise((resolve, reject) => stream.once("data", resolve).once("error", reject));
  return container;
}
