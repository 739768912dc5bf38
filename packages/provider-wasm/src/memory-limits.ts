/** The child itself: Node, the compiled interpreter, the snapshot, a warm worker. */
export const baseMiB = 450;
/** A worker beside its WebAssembly memory: the JavaScript heap and buffers that are under way. */
export const perWorkerMiB = 192;

/**
 * What the operating system is to refuse a child: twice what it may ever need, for it is the child itself that keeps
 * its interpreters to less. Address space that is not written to does not count.
 */
export function mostMemoryMiB(workers: number, memoryMiB: number, diskMiB: number): number {
  return 2 * (baseMiB + workers * (memoryMiB + perWorkerMiB) + diskMiB);
}
