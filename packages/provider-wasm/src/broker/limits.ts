import { baseMiB, perWorkerMiB } from "../memory-limits.js";
import type { Jobs } from "./jobs.js";

const mebibyte = 1024 * 1024;
const intervalMs = 100;

/**
 * Watches the memory of the whole child. WebAssembly's own cap and V8's cover what programs usually take; buffers
 * that JavaScript code in the realm allocates count for neither. Which worker holds them cannot be told, so when the
 * child is far above what its workers may take together, all of them end as out of memory.
 */
export function watchMemory(jobs: Jobs, memoryMiB: number, diskUsed: () => number): void {
  const check = () => {
    const running = jobs.running();
    const allowed = (baseMiB + running.length * (memoryMiB + perWorkerMiB)) * mebibyte + diskUsed();
    if (process.memoryUsage.rss() <= allowed) return;
    for (const job of running) job.end({ exitCode: null, signal: "SIGKILL", oom: true });
  };
  setInterval(check, intervalMs).unref();
}
