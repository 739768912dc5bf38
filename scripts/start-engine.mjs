import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { installMissing } from "./debian-packages.mjs";
import { findEngine } from "./engine-api.mjs";

export const engineLog = "/var/log/sandkit-dockerd.log";
const patienceMs = 60_000;

/** What the engine says when something is missing on this machine, and the flags with which it does without. */
const remedies = [
  { complaint: /overlay|graphdriver|storage-driver/i, flags: ["--storage-driver=vfs"] },
  { complaint: /iptables|nftables|nf_tables|ip6tables/i, flags: ["--iptables=false", "--ip6tables=false"] },
  { complaint: /bridge|docker0|network controller/i, flags: ["--bridge=none"] },
];

/**
 * Installs Debian's engine and what builds images for it, where they are missing.
 * @param {Readonly<Record<string, string>>} more Further packages, by program.
 */
export async function installEngine(more) {
  await installMissing({ dockerd: "docker.io", mmdebstrap: "mmdebstrap", ...more });
}

/**
 * Starts the engine as a program of its own that outlives this one, and waits until it answers.
 * @throws Error with the end of its log when it does not come up
 */
export async function startEngine() {
  // Where an init system runs, installing the package has started it.
  for (let tries = 0; tries < 10; tries++) {
    if ((await findEngine()).version) return;
    await sleep(200);
  }
  /** @type {string[]} */
  const flags = [];
  for (;;) {
    const failure = await tryEngine(flags);
    if (!failure) return;
    const remedy = remedies.find(
      ({ complaint, flags: [first = ""] }) => complaint.test(failure) && !flags.includes(first),
    );
    if (!remedy) throw new Error(`dockerd ${flags.join(" ")} does not come up; the end of ${engineLog}:\n${failure}`);
    process.stderr.write(`set-up  the container engine does not come up; trying ${remedy.flags.join(" ")}\n`);
    flags.push(...remedy.flags);
  }
}

/**
 * Undefined once it answers; otherwise the end of its log.
 * @param {readonly string[]} flags
 */
async function tryEngine(flags) {
  for (const file of ["/var/run/docker.pid", "/var/run/docker/containerd/containerd.pid"]) dropStalePid(file);
  const before = existsSync(engineLog) ? statSync(engineLog).size : 0;
  const log = openSync(engineLog, "a");
  const child = spawn("dockerd", flags, { detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  let ended = false;
  child.on("error", () => (ended = true)).on("exit", () => (ended = true));
  const deadline = Date.now() + patienceMs;
  while (!ended && Date.now() < deadline) {
    if ((await findEngine()).version) {
      child.unref();
      return undefined;
    }
    await sleep(100);
  }
  if (!ended) child.kill("SIGKILL");
  const said = readFileSync(engineLog).subarray(before).toString().trimEnd().split("\n");
  return said.slice(-15).join("\n") || "(it said nothing)";
}

/**
 * An engine that was killed leaves its pid behind; by now that may be the pid of anything, and a new one refuses to start.
 * @param {string} file
 */
function dropStalePid(file) {
  if (!existsSync(file)) return;
  const command = `/proc/${readFileSync(file, "utf8").trim()}/comm`;
  const running = existsSync(command) ? readFileSync(command, "utf8").trim() : "";
  if (running !== "dockerd" && running !== "containerd") rmSync(file);
}
