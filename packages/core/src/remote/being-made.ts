import type { SandboxRecord } from "./record.js";

/** What this program is making now: that its agent is not there yet says nothing. By its creation. */
const beingMade = new Set<string>();

export function begin({ creation }: SandboxRecord): void {
  beingMade.add(creation);
}

export function finish({ creation }: SandboxRecord): void {
  beingMade.delete(creation);
}

export function isBeingMade({ creation }: SandboxRecord): boolean {
  return beingMade.has(creation);
}
