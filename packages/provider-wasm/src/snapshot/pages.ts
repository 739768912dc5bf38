import { readFully } from "../read-fully.js";

/** Memory of a prepared interpreter without its empty pages, which are two thirds of it. */
export interface SparseMemory {
  /** Bytes of the whole memory. */
  readonly size: number;
  /** First page and number of pages of each stretch that is not empty. */
  readonly runs: readonly (readonly [page: number, count: number])[];
}

const pageSize = 4096;

/** Leaves the empty pages out. */
export function packPages(memory: Uint8Array): SparseMemory & { readonly data: Uint8Array } {
  const runs: [page: number, count: number][] = [];
  const words = new BigUint64Array(memory.slice().buffer);
  const wordsPerPage = pageSize / 8;
  for (let page = 0; page < memory.length / pageSize; page += 1) {
    if (words.subarray(page * wordsPerPage, (page + 1) * wordsPerPage).every((word) => word === 0n)) continue;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === page) last[1] += 1;
    else runs.push([page, 1]);
  }
  const data = Buffer.concat(runs.map(([page, count]) => memory.subarray(page * pageSize, (page + count) * pageSize)));
  return { size: memory.length, runs, data };
}

/** Puts the pages back into a fresh memory, which is zero elsewhere, straight from the file that holds them. */
export function readPages(memory: Uint8Array, { runs }: SparseMemory, file: number): void {
  let offset = 0;
  for (const [page, count] of runs) {
    const stretch = memory.subarray(page * pageSize, (page + count) * pageSize);
    readFully(file, stretch, offset);
    offset += stretch.length;
  }
}
