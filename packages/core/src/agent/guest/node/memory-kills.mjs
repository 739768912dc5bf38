import { readFileSync } from "node:fs";

/** Where cgroups of both versions count the processes that were ended for memory. */
const counters = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];
let found;

/** How many processes of this box the kernel has ended for memory; null where that cannot be known. */
export function memoryKills() {
  for (const path of found ? [found] : counters) {
    try {
      const count = /^oom_kill (\d+)$/m.exec(readFileSync(path, "latin1"))?.[1];
      if (count === undefined) continue;
      found = path;
      return Number(count);
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "EACCES") throw error;
    }
  }
  return null;
}
