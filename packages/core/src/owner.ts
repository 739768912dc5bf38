import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

/** A program that made sandboxes, told apart from every other one that ever ran with its number. */
interface Owner {
  /** Boot of a machine and, on Linux, the namespace that the number counts in. */
  readonly place: string;
  readonly pid: number;
  readonly startedAt: string;
}

/**
 * This program, as a label for what it makes in a place that outlives it: told apart from every program that had its
 * process id before.
 */
export async function ownerLabel(): Promise<string> {
  const { place, pid, startedAt } = await thisProgram();
  return `${place}:${pid}:${startedAt}`;
}

/**
 * Whether the program of a label lives. `unknown`: it ran on another machine, in another boot or in a container of
 * its own, where its number says nothing here.
 */
export async function ownerState(label: string): Promise<"alive" | "dead" | "unknown"> {
  const [place, pid, startedAt] = label.split(":");
  const self = await thisProgram();
  if (place !== self.place || !pid || startedAt === undefined) return "unknown";
  const found = await startOf(Number(pid));
  if (found === "unknown") return signalsReach(Number(pid)) ? "alive" : "dead";
  return found === startedAt ? "alive" : "dead";
}

let self: Promise<Owner> | undefined;

function thisProgram(): Promise<Owner> {
  self ??= identify();
  return self;
}

async function identify(): Promise<Owner> {
  const found = await startOf(process.pid);
  const startedAt = found === "unknown" || found === undefined ? String(Math.round(performance.timeOrigin)) : found;
  return { place: await placeOf(), pid: process.pid, startedAt };
}

async function placeOf(): Promise<string> {
  if (process.platform === "linux") {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    // Two containers share the boot but not the numbers: a sibling there must not be taken for dead.
    const namespace = (await readlink("/proc/self/ns/pid")).replace(/\D/g, "");
    return `${boot}/${namespace}`;
  }
  if (process.platform === "darwin") {
    const { stdout } = await promisify(execFile)("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"]);
    return stdout.trim();
  }
  return hostname().replaceAll(":", "-");
}

/** When a process started, in the clock of its kernel; undefined when it is dead; `unknown` where nobody tells. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform !== "linux") return "unknown";
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    return state === "Z" || state === "X" ? undefined : fields[19];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A machine may hide the programs of other users (hidepid), and they live all the same.
    if (code === "ENOENT" || code === "ESRCH") return signalsReach(pid) ? "unknown" : undefined;
    throw error;
  }
}

function signalsReach(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not allowed to signal it: then it is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
