import { createHash } from "node:crypto";
import type { SparseMemory } from "./pages.js";

/** What lies beside the pages of QuickJS's memory with its driver, as JSON. */
export interface JavaScriptSnapshotInfo extends SparseMemory {
  /** Names the module that the memory belongs to. */
  readonly module: string;
  /** Where the driver is kept in it, which is the same in every memory that it fits. */
  readonly place: number;
}

/** The name of a module of WebAssembly by its bytes. */
export function moduleName(wasm: Uint8Array): string {
  return createHash("sha256").update(wasm).digest("hex");
}
