import type { SparseMemory } from "./pages.js";

/** What lies beside the pages of a snapshot, as JSON. */
export interface SnapshotInfo extends SparseMemory {
  /** The exact Pyodide that the memory belongs to. */
  readonly pyodide: string;
  /** Tells this build's files from those of another. */
  readonly build: string;
  /** The V8 that the script caches beside it are for. */
  readonly v8: string;
  /** What Pyodide keeps beside its memory, as JSON. */
  readonly state: string;
}

const headerSize = 48;

/** Takes Pyodide's snapshot format apart: a header with lengths, JSON, memory. */
export function splitSnapshot(snapshot: Uint8Array): { readonly state: string; readonly memory: Uint8Array } {
  const view = new DataView(snapshot.buffer, snapshot.byteOffset);
  const memoryStart = view.getUint32(4, true);
  const stateLength = view.getUint32(8, true);
  return {
    state: new TextDecoder().decode(snapshot.slice(headerSize, headerSize + stateLength)),
    memory: snapshot.subarray(memoryStart),
  };
}
