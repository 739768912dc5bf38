import type { Candidate } from "./candidate.js";
import type { Demand } from "./demand.js";
import type { Requirement } from "./requirement.js";
import type { Version } from "./version.js";

/** One package that was chosen. */
export interface Chosen {
  readonly version: Version;
  /** Absent: it is in the sandbox already. */
  readonly candidate?: Candidate | undefined;
  readonly requires: readonly Requirement[];
  readonly extras: ReadonlySet<string>;
  /** Packages that ask for its extras. */
  readonly askers: readonly string[];
}

/** What was chosen, by name. */
export type Choices = ReadonlyMap<string, Chosen>;

/** Where a selection stood. */
export interface Mark {
  readonly at: number;
  readonly done: number;
}

/** What was chosen so far and what is demanded of it. All of it can be taken back to where it once stood. */
export class Selection {
  readonly #demands: Demand[] = [];
  readonly #byName = new Map<string, Demand[]>();
  readonly #known = new Set<string>();
  readonly #chosen = new Map<string, Chosen>();
  /** How to take back what was done, the last last. */
  readonly #done: (() => void)[] = [];
  #at = 0;
  #archives = 0;

  get choices(): Choices {
    return this.#chosen;
  }

  /** How many packages are not in the sandbox yet. */
  get archives(): number {
    return this.#archives;
  }

  get mark(): Mark {
    return { at: this.#at, done: this.#done.length };
  }

  /** The first demand that was not looked at yet. */
  get next(): Demand | undefined {
    return this.#demands[this.#at];
  }

  /** Goes on to the next demand. */
  pass(): void {
    this.#at += 1;
  }

  demandsOn(name: string): readonly Demand[] {
    return this.#byName.get(name) ?? [];
  }

  /** Adds a demand; one that is known already adds nothing. */
  demand(demand: Demand): void {
    const { name, extras, specifiers, isAddress } = demand.requirement;
    const key = JSON.stringify([name, extras, specifiers.map(({ text }) => text), isAddress]);
    if (this.#known.has(key)) return;
    const own = this.#byName.get(name) ?? [];
    this.#known.add(key);
    this.#demands.push(demand);
    own.push(demand);
    this.#byName.set(name, own);
    this.#done.push(() => {
      this.#known.delete(key);
      this.#demands.pop();
      own.pop();
    });
  }

  /** Chooses a version, or more extras of it. */
  choose(name: string, chosen: Chosen): void {
    const before = this.#chosen.get(name);
    const archives = this.#archives;
    if (!before && chosen.candidate) this.#archives += 1;
    this.#chosen.set(name, chosen);
    this.#done.push(() => {
      this.#archives = archives;
      if (before) this.#chosen.set(name, before);
      else this.#chosen.delete(name);
    });
  }

  undo({ at, done }: Mark): void {
    while (this.#done.length > done) this.#done.pop()?.();
    this.#at = at;
  }
}
