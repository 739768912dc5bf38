import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Dockerode from "dockerode";
import { engine } from "./bench-engine.mjs";

/**
 * A Docker engine beside the one that is there, with an image of that: in a network namespace of its own, or it would
 * take the other one's bridge. Undefined where none can be started.
 * @param {string} image
 */
export async function startSecondEngine(image) {
  if (process.getuid?.() !== 0 || !existsSync("/usr/sbin/dockerd")) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "sandkit-bench-engine-"));
  const host = `unix://${folder}/docker.sock`;
  const paths = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`];
  const command = ["-n", "dockerd", `--host=${host}`, ...paths, "--bridge=none", "--iptables=false"];
  const daemon = spawn("unshare", command, { stdio: "ignore", detached: true });
  const stop = async () => {
    if (daemon.exitCode === null) {
      daemon.kill();
      await once(daemon, "exit");
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const dockerode = new Dockerode({ socketPath: `${folder}/docker.sock` });
    for (let round = 0; !(await answers(dockerode)); round++) {
      if (daemon.exitCode !== null || round > 300) throw new Error("the second engine does not start");
      await pause(100);
    }
    for await (const _ of await dockerode.loadImage(await engine.getImage(image).get()));
    return { host, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {Dockerode} dockerode */
async function answers(dockerode) {
  try {
    await dockerode.ping();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
