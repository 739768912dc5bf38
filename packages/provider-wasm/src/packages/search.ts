import type { SandboxError } from "@sandkit/core";
import type { Budget } from "./budget.js";
import type { Candidate } from "./candidate.js";
import { type Demand, describeDemand } from "./demand.js";
import { isUnreachable, packageError } from "./errors.js";
import type { Installed } from "./installed.js";
import type { MarkerEnvironment } from "./marker.js";
import type { Offers } from "./offers.js";
import { appliesTo, type Requirement } from "./requirement.js";
import { satisfies } from "./specifier.js";
import { compareVersions, parseVersion, type Version } from "./version.js";
import type { WheelTarget } from "./wheel-name.js";

/** For what packages are chosen. */
export interface SearchOptions {
  readonly target: WheelTarget;
  readonly environment: MarkerEnvironment;
  readonly installed: ReadonlyMap<string, Installed>;
  readonly budget: Budget;
}

interface Chosen {
  readonly version: Version;
  /** Absent: it is in the sandbox already. */
  readonly candidate?: Candidate | undefined;
  readonly requires: readonly Requirement[];
  readonly extras: ReadonlySet<string>;
}

/** What was chosen, by name. */
export type Choices = ReadonlyMap<string, Chosen>;

/** Why a choice does not work, and the packages of which another version might help. */
export interface Failure {
  readonly error: SandboxError;
  readonly causes: ReadonlySet<string>;
}

/** One package for which versions are tried. */
interface Attempt {
  readonly name: string;
  readonly extras: ReadonlySet<string>;
  readonly demands: readonly Demand[];
  readonly versions: AsyncIterator<Version | Candidate, void>;
  readonly causes: Set<string>;
  /** Where the search stood. */
  readonly at: number;
  readonly mark: number;
  /** Of the first version that did not do. */
  error?: SandboxError | undefined;
}

const mostPackages = 300;

/**
 * One search for versions that go together: takes demand after demand, and where one cannot be met goes back to the last
 * package that has to do with it and tries its next version.
 */
export class Search {
  readonly #offers: Offers;
  readonly #dependents: ReadonlyMap<string, readonly Demand[]>;
  readonly #options: SearchOptions;
  readonly #demands: Demand[] = [];
  readonly #byName = new Map<string, Demand[]>();
  readonly #known = new Set<string>();
  readonly #chosen = new Map<string, Chosen>();
  readonly #attempts: Attempt[] = [];
  /** How to take back what was done, the last last. */
  readonly #done: (() => void)[] = [];
  #at = 0;
  #archives = 0;

  /** @param dependents What installed packages ask of others, by the name of those. */
  constructor(offers: Offers, dependents: ReadonlyMap<string, readonly Demand[]>, options: SearchOptions) {
    this.#offers = offers;
    this.#dependents = dependents;
    this.#options = options;
  }

  /** @throws SandboxError `UNAVAILABLE` for a source that cannot be reached, OverBudget */
  async run(requirements: readonly Requirement[]): Promise<{ readonly choices: Choices } | Failure> {
    // What leaves the least choice comes first: so conflicts show early.
    const exact = requirements.filter(isExact);
    for (const requirement of [...exact, ...requirements]) this.#demand({ requirement });
    for (;;) {
      const demand = this.#demands[this.#at];
      if (!demand) return { choices: this.#chosen };
      await this.#options.budget.countSteps(1);
      const failure = await this.#meet(demand);
      const final = failure && (await this.#goBack(failure));
      if (final) return final;
    }
  }

  async #meet(demand: Demand): Promise<Failure | undefined> {
    const { name, isAddress } = demand.requirement;
    if (isAddress) return failed(name, [demand], "packages come by name, not by address: put the wheel into wheelDir");
    const chosen = this.#chosen.get(name);
    if (!chosen) {
      const attempt = this.#begin(name);
      this.#attempts.push(attempt);
      return this.#next(attempt);
    }
    this.#at += 1;
    const more = demand.requirement.extras.filter((extra) => !chosen.extras.has(extra));
    if (more.length === 0) return this.#conflict(demand);
    return this.#choose(name, { ...chosen, extras: new Set([...chosen.extras, ...more]) });
  }

  /** With what is chosen already. */
  #conflict(demand: Demand): Failure | undefined {
    const { name, specifiers } = demand.requirement;
    const chosen = this.#chosen.get(name);
    if (!chosen || satisfies(chosen.version, specifiers)) return undefined;
    const standing = chosen.candidate ? "is chosen" : "is installed";
    const reason = `versions conflict: ${describeDemand(demand)}, and ${chosen.version.text} ${standing}`;
    return failed(name, [demand], reason, [name]);
  }

  #begin(name: string): Attempt {
    const own = [...(this.#byName.get(name) ?? [])];
    const others = (this.#dependents.get(name) ?? []).filter(({ by }) => by && this.#stays(by.name));
    const demands = [...own, ...others];
    const causes = new Set<string>();
    return {
      name,
      demands,
      extras: new Set(own.flatMap(({ requirement }) => requirement.extras)),
      versions: this.#versionsOf(name, own, demands, causes),
      causes,
      at: this.#at,
      mark: this.#done.length,
    };
  }

  /** Whether an installed package keeps its version: one that is demanded too will have its turn, and say so itself. */
  #stays(name: string): boolean {
    const chosen = this.#chosen.get(name);
    return chosen ? chosen.candidate === undefined : !this.#byName.get(name)?.length;
  }

  /**
   * What is there comes first: what it breaks already, it may break on.
   * @param causes Gets who excludes a version, and who needs the package at all: of each one suffices.
   */
  async *#versionsOf(name: string, own: readonly Demand[], all: readonly Demand[], causes: Set<string>) {
    const exclude = ({ by }: Demand) => {
      if (by) causes.add(by.name);
    };
    own.slice(0, 1).forEach(exclude);
    const present = this.#options.installed.get(name)?.version;
    const excluding = present && own.find(({ requirement }) => !satisfies(present, requirement.specifiers));
    if (excluding) exclude(excluding);
    else if (present) yield present;
    for await (const candidate of this.#offers.fitting(name, all, exclude)) {
      if (!present || compareVersions(candidate.version, present) !== 0) yield candidate;
    }
  }

  /** Takes the next version of a package that can be taken. */
  async #next(attempt: Attempt): Promise<Failure | undefined> {
    for (;;) {
      this.#undo(attempt);
      const version = await this.#following(attempt);
      if (!version) {
        this.#attempts.pop();
        const error = attempt.error ?? (await this.#offers.explain(attempt.name, attempt.demands));
        return { error, causes: attempt.causes };
      }
      const failure = await this.#take(attempt, version);
      if (!failure) return undefined;
      blame(attempt, failure);
    }
  }

  async #following(attempt: Attempt): Promise<Version | Candidate | undefined> {
    try {
      return (await attempt.versions.next()).value ?? undefined;
    } catch (error) {
      // Others were tried before: another version of another package may do without.
      if (!isUnreachable(error) || !attempt.error) throw error;
      attempt.error = error;
      return undefined;
    }
  }

  async #take({ name, extras }: Attempt, version: Version | Candidate): Promise<Failure | undefined> {
    if (!("pin" in version)) {
      const requires = this.#options.installed.get(name)?.requires ?? [];
      return this.#choose(name, { version, requires, extras });
    }
    if (this.#archives >= mostPackages)
      return failed(name, [], `it would be one of more than ${mostPackages} packages`);
    const { requires, python } = await this.#offers.needsOf(version);
    const own = parseVersion(this.#options.target.python);
    if (own && !satisfies(own, python)) {
      const wanted = python.map(({ text }) => text).join(",");
      return failed(name, [], `${version.pin.filename} needs Python ${wanted}, and this is ${own.text}`, [name]);
    }
    this.#archives += 1;
    this.#done.push(() => {
      this.#archives -= 1;
    });
    return this.#choose(name, { version: version.version, candidate: version, requires, extras });
  }

  /** Takes a version, or more extras of it, and all that it needs, unless that conflicts with what is chosen. */
  async #choose(name: string, chosen: Chosen): Promise<Failure | undefined> {
    const before = this.#chosen.get(name);
    this.#chosen.set(name, chosen);
    this.#done.push(() => {
      if (before) this.#chosen.set(name, before);
      else this.#chosen.delete(name);
    });
    const by = { name, version: chosen.version.text, isPresent: !chosen.candidate };
    for (const requirement of chosen.requires) {
      await this.#options.budget.countSteps(chosen.extras.size + 1);
      if (!appliesTo(requirement, this.#options.environment, chosen.extras)) continue;
      const demand = { requirement, by };
      const conflict = this.#conflict(demand);
      if (conflict) return conflict;
      this.#demand(demand);
    }
    return undefined;
  }

  /** A demand that is known already adds nothing. */
  #demand(demand: Demand): void {
    const { requirement } = demand;
    const { name, extras, specifiers, isAddress } = requirement;
    const key = JSON.stringify([name, extras, specifiers.map(({ text }) => text), isAddress]);
    if (this.#known.has(key)) return;
    const own = this.#byName.get(name) ?? [];
    const isNew = own.length === 0 && !isAddress && !this.#chosen.has(name) && !this.#options.installed.has(name);
    if (isNew) this.#offers.prefetch(demand);
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

  /** @returns the failure itself when nothing is left to try */
  async #goBack(failure: Failure): Promise<Failure | undefined> {
    for (let current: Failure | undefined = failure; current; ) {
      const attempt = this.#attempts.at(-1);
      if (!attempt) return current;
      if (current.causes.has(attempt.name)) {
        blame(attempt, current);
        current = await this.#next(attempt);
      } else {
        this.#undo(attempt);
        this.#attempts.pop();
      }
    }
    return undefined;
  }

  #undo({ at, mark }: Attempt): void {
    while (this.#done.length > mark) this.#done.pop()?.();
    this.#at = at;
  }
}

function isExact({ specifiers }: Requirement): boolean {
  return specifiers.some(({ text }) => text.startsWith("==") && !text.endsWith("*"));
}

function blame(attempt: Attempt, { error, causes }: Failure): void {
  attempt.error ??= error;
  for (const cause of causes) if (cause !== attempt.name) attempt.causes.add(cause);
}

function failed(name: string, demands: readonly Demand[], reason: string, more: readonly string[] = []): Failure {
  const causes = new Set([...demands.flatMap(({ by }) => by?.name ?? []), ...more]);
  return { error: packageError("INVALID", name, reason), causes };
}
