import type { Principal } from "./principal.js";
import type { ResourceChanges } from "./resources/resource-changes.js";
import type { Runs } from "./runs/runs.js";
import type { Sandboxes } from "./sandboxes.js";
import type { Snapshots } from "./snapshots.js";

/** Principals that are remembered at least: an authorization server may send any number. */
const usualMax = 1_000;

/** What a server holds for one principal. */
export interface PrincipalState {
  readonly sandboxes: Sandboxes;
  readonly snapshots: Snapshots;
  readonly runs: Runs;
  readonly changes: ResourceChanges;
  /** True while a client waits to be told of changes. */
  isListenedTo(): boolean;
}

/** What a server holds for each principal. Beyond a number of them those are forgotten who have nothing left here. */
export class PrincipalStates {
  readonly #make: (principal: Principal) => PrincipalState;
  readonly #max: number;
  /** In the order of their last use. */
  readonly #states = new Map<string, PrincipalState>();

  constructor(make: (principal: Principal) => PrincipalState, max = usualMax) {
    this.#make = make;
    this.#max = max;
  }

  of(principal: Principal): PrincipalState {
    const state = this.#states.get(principal.id) ?? this.#make(principal);
    this.#states.delete(principal.id);
    this.#states.set(principal.id, state);
    if (this.#states.size > this.#max) this.#forgetOne(state);
    return state;
  }

  entries(): [id: string, state: PrincipalState][] {
    return [...this.#states];
  }

  all(): PrincipalState[] {
    return [...this.#states.values()];
  }

  /** The one longest unused. Whoever lives on is never forgotten, however many there are. */
  #forgetOne(newest: PrincipalState): void {
    for (const [id, state] of this.#states) {
      if (state === newest || !isOver(state)) continue;
      this.#states.delete(id);
      state.changes[Symbol.dispose]();
      return;
    }
  }
}

function isOver({ sandboxes, runs, isListenedTo }: PrincipalState): boolean {
  return sandboxes.isUnused && runs.list().every(({ outcome }) => outcome !== undefined) && !isListenedTo();
}
