import { readFile } from "node:fs/promises";
import { hasErrno } from "./errors.js";

/** A process of this host, told apart from a later one that has the same number. */
export interface Owner {
  readonly pid: number;
  /** In clock ticks since the host was started. */
  readonly startTime: string;
  /** Changes with every start of the host. */
  readonly bootId: string;
}

/** The process that runs this code. */
export async function thisProcess(): Promise<Owner> {
  return { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? "", bootId: await bootId() };
}

/** Whether that process runs now. */
export async function isAlive(owner: Owner): Promise<boolean> {
  return owner.bootId === (await bootId()) && owner.startTime === (await startTimeOf(owner.pid));
}

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

/** Undefined when there is no such process. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, "utf8");
    // Field 22; the name, in parentheses, is field 2 and may hold anything.
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[19];
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}
