import { SandboxError } from "@sandkit/core";
import type { Budget } from "./budget.js";
import type { Candidate } from "./candidate.js";
import { type Demand, describeDemand } from "./demand.js";
import { isUnreachable, packageError } from "./errors.js";
import { type Dependents, holding, type Installed } from "./installed.js";
import type { MarkerEnvironment } from "./marker.js";
import type { Offers } from "./offers.js";
import { appliesTo, type Requirement } from "./requirement.js";
import { type Choices, type Chosen, type Mark, Selection } from "./selection.js";
import { satisfies } from "./specifier.js";
import { compareVersions, parseVersion, type Version } from "./version.js";
import type { WheelTarget } from "./wheel-name.js";

/** For what packages are chosen. */
export interface SearchOptions {
  readonly target: WheelTarget;
  readonly environment: MarkerEnvironment;
  readonly installed: ReadonlyMap<string, Installed>;
  /** What installed packages ask of others, by the name of those. */
  readonly dependents: Dependents;
  readonly budget: Budget;
}

/** Why a choice does not work, and the packages of which another version might help. */
export interface Failure {
  readonly error: SandboxError;
  readonly causes: ReadonlySet<string>;
}

/** One package for which versions are tried. */
interface Attempt {
  readonly name: string;
  readonly demands: readonly Demand[];
  readonly versions: AsyncIterator<Version | Candidate, void>;
  readonly causes: Set<string>;
  readonly mark: Mark;
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
  readonly #options: SearchOptions;
  readonly #selection = new Selection();
  readonly #attempts: Attempt[] = [];

  constructor(offers: Offers, options: SearchOptions) {
    this.#offers = offers;
    this.#options = options;
  }

  /** @throws SandboxError `UNAVAILABLE` for a source that cannot be reached, OverBudget */
  async run(requirements: readonly Requirement[]): Promise<{ readonly choices: Choices } | Failure> {
    // What leaves the least choice comes first: so conflicts show early.
    const exact = requirements.filter(isExact);
    for (const requirement of [...exact, ...requirements]) this.#demand({ requirement, causes: [] });
    for (;;) {
      const demand = this.#selection.next;
      if (!demand) return { choices: this.#selection.choices };
      await this.#options.budget.countSteps(1);
      const failure = await this.#meet(demand);
      const final = failure && (await this.#goBack(failure));
      if (final) return final;
    }
  }

  async #meet(demand: Demand): Promise<Failure | undefined> {
    const { name, isAddress, extras } = demand.requirement;
    if (isAddress)
      return failed(name, demand.causes, "packages come by name, not by address: put the wheel into wheelDir");
    const chosen = this.#selection.choices.get(name);
    if (!chosen) return this.#begin(name);
    this.#selection.pass();
    const more = extras.filter((extra) => !chosen.extras.has(extra));
    if (more.length === 0) return this.#conflict(demand);
    const all = { extras: new Set([...chosen.extras, ...more]), askers: [...chosen.askers, ...demand.causes] };
    const requires = chosen.candidate ? await this.#requiresOf(chosen.candidate, all.extras) : chosen.requires;
    return this.#choose(name, { ...chosen, ...all, requires });
  }

  /** With what is chosen already. */
  #conflict(demand: Demand): Failure | undefined {
    const { name, specifiers } = demand.requirement;
    const chosen = this.#selection.choices.get(name);
    if (!chosen || satisfies(chosen.version, specifiers)) return undefined;
    const standing = chosen.candidate ? "is chosen" : "is installed";
    const reason = `versions conflict: ${describeDemand(demand)}, and ${chosen.version.text} ${standing}`;
    return failed(name, [...demand.causes, name], reason);
  }

  async #begin(name: string): Promise<Failure | undefined> {
    const own = [...this.#selection.demandsOn(name)];
    const { dependents, budget } = this.#options;
    const others = await holding(dependents.get(name) ?? [], (each) => this.#stays(each), budget);
    const demands = [...own, ...others];
    await budget.countSteps(demands.length);
    const causes = new Set(extrasIn(demands).askers);
    const attempt: Attempt = {
      name,
      demands,
      versions: this.#versionsOf(name, own, demands, causes),
      causes,
      mark: this.#selection.mark,
    };
    this.#attempts.push(attempt);
    return this.#next(attempt);
  }

  /** Whether an installed package keeps its version: one that is demanded too will have its turn, and say so itself. */
  #stays(name: string): boolean {
    const chosen = this.#selection.choices.get(name);
    return chosen ? chosen.candidate === undefined : this.#selection.demandsOn(name).length === 0;
  }

  /**
   * What is there comes first: what it breaks already, it may break on.
   * @param causes Gets who excludes a version, and who needs the package at all: of each one suffices.
   */
  async *#versionsOf(name: string, own: readonly Demand[], all: readonly Demand[], causes: Set<string>) {
    const exclude = (demand: Demand) => addAll(causes, demand.causes);
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
      this.#selection.undo(attempt.mark);
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

  async #take({ name, demands }: Attempt, version: Version | Candidate): Promise<Failure | undefined> {
    const { extras, askers } = extrasIn(demands);
    if (!("pin" in version)) {
      const requires = this.#options.installed.get(name)?.requires ?? [];
      return this.#choose(name, { version, requires, extras, askers });
    }
    if (this.#selection.archives >= mostPackages) {
      return failed(name, [], `it would be one of more than ${mostPackages} packages`);
    }
    try {
      const { python } = await this.#offers.needsOf(version);
      const own = parseVersion(this.#options.target.python);
      if (own && !satisfies(own, python)) {
        const wanted = python.map(({ text }) => text).join(",");
        return failed(name, [name], `${version.pin.filename} needs Python ${wanted}, and this is ${own.text}`);
      }
      const requires = await this.#requiresOf(version, extras);
      return await this.#choose(name, { version: version.version, candidate: version, requires, extras, askers });
    } catch (error) {
      // Of one version only: another may be as it should.
      if (error instanceof SandboxError && error.code === "INVALID") return { error, causes: new Set([name]) };
      throw error;
    }
  }

  async #requiresOf(candidate: Candidate, extras: ReadonlySet<string>): Promise<readonly Requirement[]> {
    const { requires } = await this.#offers.needsOf(candidate);
    if (extras.size === 0 || !candidate.ownNeeds) return requires;
    const own = await candidate.ownNeeds();
    return [...requires, ...own.requires.filter((each) => !appliesTo(each, this.#options.environment))];
  }

  /** Takes a version, or more extras of it, and all that it needs, unless that conflicts with what is chosen. */
  async #choose(name: string, chosen: Chosen): Promise<Failure | undefined> {
    this.#selection.choose(name, chosen);
    const by = { name, version: chosen.version.text, isPresent: !chosen.candidate };
    const causes = [name, ...chosen.askers];
    for (const requirement of chosen.requires) {
      await this.#options.budget.countText(requirement.text, chosen.extras.size + 1);
      if (!appliesTo(requirement, this.#options.environment, chosen.extras)) continue;
      const demand = { requirement, by, causes };
      const conflict = this.#conflict(demand);
      if (conflict) return conflict;
      this.#demand(demand);
    }
    return undefined;
  }

  #demand(demand: Demand): void {
    const { name, isAddress } = demand.requirement;
    const isKnown = this.#selection.demandsOn(name).length > 0 || this.#selection.choices.has(name);
    if (!isKnown && !isAddress && !this.#options.installed.has(name)) this.#offers.prefetch(demand);
    this.#selection.demand(demand);
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
        this.#selection.undo(attempt.mark);
        this.#attempts.pop();
      }
    }
    return undefined;
  }
}

/** What they ask for besides, and the packages that have a hand in that. */
function extrasIn(demands: readonly Demand[]): Pick<Chosen, "extras" | "askers"> {
  const asking = demands.filter(({ requirement }) => requirement.extras.length > 0);
  return {
    extras: new Set(asking.flatMap(({ requirement }) => requirement.extras)),
    askers: asking.flatMap(({ causes }) => causes),
  };
}

function isExact({ specifiers }: Requirement): boolean {
  return specifiers.some(({ text }) => text.startsWith("==") && !text.endsWith("*"));
}

function blame(attempt: Attempt, { error, causes }: Failure): void {
  attempt.error ??= error;
  addAll(attempt.causes, causes);
  attempt.causes.delete(attempt.name);
}

function failed(name: string, causes: Iterable<string>, reason: string): Failure {
  return { error: packageError("INVALID", name, reason), causes: new Set(causes) };
}

function addAll(set: Set<string>, more: Iterable<string>): void {
  for (const each of more) set.add(each);
}
