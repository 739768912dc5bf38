import { readdirSync, readFileSync } from "node:fs";

const maxLooks = 32;

/** What a process shows of itself; null when it is gone or is not ours to look at. */
function readProc(path) {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(error.code)) return null;
    throw error;
  }
}

function parse(pid, stat) {
  // The command in parentheses may hold anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    dead: fields[0] === "Z" || fields[0] === "X",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    /** In ticks since the boot; with the pid it names a process for good. */
    start: Number(fields[19]),
  };
}

/** All processes that can be seen, by pid. One that ended during the look may have left a child: that is looked for. */
export function processTable() {
  const table = new Map();
  const seen = new Set();
  let missed = true;
  for (let look = 0; missed && look < maxLooks; look++) {
    missed = false;
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || seen.has(pid)) continue;
      seen.add(pid);
      const stat = readProc(`/proc/${pid}/stat`);
      if (stat) table.set(pid, parse(pid, stat));
      else missed = true;
    }
  }
  return table;
}

/** The pid given out last in this pid namespace; null where the system does not tell. */
export function lastPid() {
  return readProc("/proc/loadavg")?.trim().split(" ").at(-1) ?? null;
}

/** When a process started; null when it is gone. */
export function startOf(pid) {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat ? parse(pid, stat).start : null;
}

/** The value of a variable in the environment that a process was started with. */
export function variableOf(pid, name) {
  const text = readProc(`/proc/${pid}/environ`);
  if (!text) return null;
  const at = text.startsWith(`${name}=`) ? 0 : text.indexOf(`\0${name}=`) + 1;
  if (at === 0 && !text.startsWith(`${name}=`)) return null;
  return text.slice(at + name.length + 1).split("\0", 1)[0];
}
