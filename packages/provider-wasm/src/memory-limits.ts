import { totalmem } from "node:os";

/** The child itself: Node, the compiled interpreter, the snapshot, a warm worker. */
export const baseMiB = 450;
/** A worker beside its WebAssembly memory: the JavaScript heap and buffers that are under way. */
export const perWorkerMiB = 192;
/** Programs that programs and cells of one sandbox have under way, together. */
export const mostNested = 8;
/** Shells kept for their next job. */
export const mostShellsKept = 2;
/** Kernels have no number: more than these find room as long as not every worker takes its most. */
const usualKernels = 4;

/** What a child's memory depends on. */
export interface MemoryDemand {
  /** Programs at one time, and as many shells. */
  readonly maxWorkers: number;
  /** Of each language. */
  readonly warmWorkers: number;
  readonly memoryMiB: number;
  readonly diskMiB: number;
}

/**
 * What the operating system is to refuse a child. It must lie above what the child lets all its workers take, for it
 * ends all of them at once, where the child itself ends one. More than the machine has would be no limit; but address
 * space counts here that is not written to, of which there may be as much again: twice what the programs and kernels
 * of a usual sandbox take is always allowed.
 */
export function mostMemoryMiB(demand: MemoryDemand, machineMiB = totalmem() / 2 ** 20): number {
  const { maxWorkers, warmWorkers, memoryMiB, diskMiB } = demand;
  const beside = baseMiB + diskMiB;
  const usual = 2 * (beside + (maxWorkers + warmWorkers) * (memoryMiB + perWorkerMiB));
  const workers = 2 * maxWorkers + 2 * warmWorkers + mostNested + usualKernels;
  const all = beside + workers * (memoryMiB + perWorkerMiB) + mostShellsKept * perWorkerMiB;
  return Math.max(usual, Math.min(all, Math.floor(machineMiB)));
}
