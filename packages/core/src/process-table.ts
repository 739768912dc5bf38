import type { Process, ProcessInfo } from "./process.js";

/** How many ended processes stay known. */
const keptEnded = 100;

/** The processes of one sandbox: all that run, and the latest that ended. */
export class ProcessTable {
  readonly #processes = new Map<string, Process>();

  add(process: Process): void {
    this.#processes.set(process.id, process);
    const ended = [...this.#processes.values()].filter((known) => !known.info.running);
    for (const old of ended.slice(0, Math.max(0, ended.length - keptEnded))) this.#processes.delete(old.id);
  }

  remove(id: string): void {
    this.#processes.delete(id);
  }

  get(id: string): Process | undefined {
    return this.#processes.get(id);
  }

  list(): ProcessInfo[] {
    return [...this.#processes.values()].map((process) => process.info);
  }
}
