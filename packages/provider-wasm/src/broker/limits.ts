import { baseMiB, perWorkerMiB } from "../memory-limits.js";
import type { Jobs } from "./jobs.js";

const mebibyte = 1024 * 1024;
const intervalMs = 100;

/** What the jobs of a sandbox may take together. */
interface Most {
  readonly memoryMiB: number;
  readonly maxCpuMs?: number | undefined;
}

/**
 * Watches the memory and the processor time of the whole child. WebAssembly's own cap and V8's cover what programs
 * usually take; buffers that JavaScript code in the realm allocates count for neither. Which worker holds them cannot
 * be told, so when the child is far above what its workers may take together, all of them end as out of memory. Of
 * processor time, too, only the sum is known: once it is used up, whatever runs is ended by SIGXCPU.
 */
export function watchLimits(jobs: Jobs, { memoryMiB, maxCpuMs }: Most, diskUsed: () => number): void {
  const check = () => {
    const running = jobs.running();
    if (maxCpuMs !== undefined && usedCpuMs() > maxCpuMs) {
      for (const job of running) job.end({ exitCode: null, signal: "SIGXCPU" });
    }
    const workers = running.length * (memoryMiB + perWorkerMiB) + jobs.idleShells * perWorkerMiB;
    const allowed = (baseMiB + workers) * mebibyte + diskUsed();
    if (process.memoryUsage.rss() <= allowed) return;
    for (const job of running) job.end({ exitCode: null, signal: "SIGKILL", oom: true });
  };
  setInterval(check, intervalMs).unref();
}

function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
