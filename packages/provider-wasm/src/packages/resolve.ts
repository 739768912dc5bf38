import type { SandboxError } from "@sandkit/core";
import type { Candidate, Found, Needs, Pin, Source } from "./candidate.js";
import { isUnreachable, packageError } from "./errors.js";
import type { MarkerEnvironment } from "./marker.js";
import type { PresentPackage } from "./present-package.js";
import { appliesTo, type Requirement } from "./requirement.js";
import { satisfies } from "./specifier.js";
import { isPrerelease, parseVersion, type Version } from "./version.js";
import { describeTarget, type WheelTarget } from "./wheel-name.js";

/** From what, and for what, packages are chosen. */
export interface ResolveOptions {
  /** Asked in this order, the next only where those before have nothing that fits. */
  readonly sources: readonly Source[];
  readonly target: WheelTarget;
  readonly environment: MarkerEnvironment;
  /** What is in the sandbox, by normalised name. It stays where it fits. */
  readonly installed?: ReadonlyMap<string, PresentPackage> | undefined;
  /** Why a source that one might think of is not asked. */
  readonly notAsked?: string | undefined;
}

/** A requirement, and who has it. */
interface Demand {
  readonly requirement: Requirement;
  /** Normalised name of the package that has it; undefined: the caller. */
  readonly by?: string | undefined;
  /** The same, for people. */
  readonly text: string;
}

interface Chosen {
  readonly version: Version;
  /** Absent: it is in the sandbox already. */
  readonly candidate?: Candidate | undefined;
  readonly extras: ReadonlySet<string>;
}

type Choices = ReadonlyMap<string, Chosen>;

/** Why a choice does not work, and the packages of which another version might help. */
interface Failure {
  readonly error: SandboxError;
  readonly causes: ReadonlySet<string>;
}

const mostTries = 1000;
const mostPackages = 300;
const mostNamed = 5;

/**
 * Chooses a version of each package that is asked for and of all that these need, the newest that go together.
 * @throws SandboxError `INVALID` naming the package and why it cannot be had; `UNAVAILABLE` where a source is
 */
export async function resolve(requirements: readonly Requirement[], options: ResolveOptions): Promise<Pin[]> {
  const found = await new Resolver(options).resolve(requirements);
  return [...found.values()].flatMap(({ candidate }) => (candidate ? [candidate.pin] : []));
}

class Resolver {
  readonly #options: ResolveOptions;
  readonly #found = new Map<string, Promise<Found>>();
  readonly #needs = new Map<Candidate, Promise<Needs>>();
  #tries = 0;

  constructor(options: ResolveOptions) {
    this.#options = options;
  }

  async resolve(requirements: readonly Requirement[]): Promise<Choices> {
    const asked = requirements.filter((requirement) => appliesTo(requirement, this.#options.environment));
    const demands = asked.map((requirement) => ({ requirement, text: `asked for: ${requirement.text}` }));
    for (const demand of demands) this.#prefetch(demand);
    const result = await this.#solve(demands, new Map());
    if ("error" in result) throw result.error;
    return result;
  }

  async #solve(agenda: readonly Demand[], choices: Choices): Promise<Choices | Failure> {
    const [demand, ...rest] = agenda;
    if (!demand) return choices;
    const { name, isAddress } = demand.requirement;
    if (isAddress) return failure(name, [demand], "packages come by name, not by address: put the wheel into wheelDir");
    const chosen = choices.get(name);
    return chosen ? this.#add(demand, chosen, rest, choices) : this.#choose(name, agenda, choices);
  }

  /** One more demand on what is chosen already. */
  async #add(demand: Demand, chosen: Chosen, rest: readonly Demand[], choices: Choices): Promise<Choices | Failure> {
    const { name, specifiers, extras } = demand.requirement;
    if (!satisfies(chosen.version, specifiers)) {
      const reason = `versions conflict: ${demand.text}, and ${chosen.version.text} is chosen`;
      const { error, causes } = failure(name, [demand], reason);
      return { error, causes: new Set([...causes, name]) };
    }
    const more = extras.filter((extra) => !chosen.extras.has(extra));
    if (more.length === 0 || !chosen.candidate) return this.#solve(rest, choices);
    return this.#take(name, chosen.candidate, new Set([...chosen.extras, ...more]), rest, choices);
  }

  /** Tries one version after the other, until all the rest works too. */
  async #choose(name: string, agenda: readonly Demand[], choices: Choices): Promise<Choices | Failure> {
    const own = agenda.filter(({ requirement }) => requirement.name === name);
    const others = agenda.filter((demand) => !own.includes(demand));
    const extras = new Set(own.flatMap(({ requirement }) => requirement.extras));
    const present = parseVersion(this.#options.installed?.get(name)?.version ?? "");
    if (present && extras.size === 0 && own.every(({ requirement }) => satisfies(present, requirement.specifiers))) {
      const kept = await this.#solve(others, new Map([...choices, [name, { version: present, extras }]]));
      if (!("error" in kept) || !kept.causes.has(name)) return kept;
    }
    const causes = new Set(own.flatMap(({ by }) => by ?? []));
    let last: SandboxError | undefined;
    for await (const candidate of this.#matching(name, own)) {
      this.#tries += 1;
      if (this.#tries > mostTries) return failure(name, own, `no versions that go together in ${mostTries} tries`);
      const result = await this.#take(name, candidate, extras, others, choices);
      if (!("error" in result) || !result.causes.has(name)) return result;
      last ??= result.error;
      for (const cause of result.causes) if (cause !== name) causes.add(cause);
    }
    return { error: last ?? (await this.#explain(name, own)), causes };
  }

  async #take(
    name: string,
    candidate: Candidate,
    extras: ReadonlySet<string>,
    rest: readonly Demand[],
    choices: Choices,
  ): Promise<Choices | Failure> {
    const { environment, target } = this.#options;
    const { version, pin } = candidate;
    if (choices.size >= mostPackages) return failure(name, [], `it would be one of more than ${mostPackages} packages`);
    const needs = await this.#needsOf(candidate);
    const python = parseVersion(target.python);
    if (python && !satisfies(python, needs.python)) {
      const wanted = needs.python.map(({ text }) => text).join(",");
      return failure(name, [], `${pin.filename} needs Python ${wanted}, and this is ${target.python}`, [name]);
    }
    const applying = needs.requires.filter((requirement) => appliesTo(requirement, environment, extras));
    const demands = applying.map((requirement) => ({
      requirement,
      by: name,
      text: `${name} ${version.text} needs ${requirement.text.replace(/\s*;.*$/s, "")}`,
    }));
    for (const demand of demands) this.#prefetch(demand);
    return this.#solve([...rest, ...demands], new Map([...choices, [name, { version, candidate, extras }]]));
  }

  /** Candidates that meet all demands, source by source. */
  async *#matching(name: string, demands: readonly Demand[]): AsyncGenerator<Candidate> {
    const conditions = demands.flatMap(({ requirement }) => requirement.specifiers);
    const exactly = conditions.some(({ text }) => /^==(?!.*\*)/.test(text));
    const early = conditions.some(({ namesPrerelease }) => namesPrerelease);
    let unreachable: unknown;
    let any = false;
    for (const source of this.#options.sources) {
      try {
        const { candidates } = await this.#find(source, name);
        const fitting = candidates.filter(
          ({ version, yanked }) => satisfies(version, conditions) && (!yanked || exactly),
        );
        const finished = fitting.filter(({ version }) => early || !isPrerelease(version));
        for (const candidate of finished.length > 0 ? finished : fitting) {
          any = true;
          yield candidate;
        }
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        unreachable ??= error;
      }
    }
    if (unreachable !== undefined && !any) throw unreachable;
  }

  /** Begins what will be asked soon. What goes wrong is told when it is asked for. */
  #prefetch(demand: Demand): void {
    const { name, isAddress } = demand.requirement;
    if (isAddress || this.#options.installed?.has(name)) return;
    const first = async () => {
      for await (const candidate of this.#matching(name, [demand])) return this.#needsOf(candidate);
      return undefined;
    };
    first().catch(() => undefined);
  }

  #find(source: Source, name: string): Promise<Found> {
    const key = `${this.#options.sources.indexOf(source)} ${name}`;
    const found = this.#found.get(key) ?? source.find(name);
    this.#found.set(key, found);
    return found;
  }

  #needsOf(candidate: Candidate): Promise<Needs> {
    const needs = this.#needs.get(candidate) ?? candidate.needs();
    this.#needs.set(candidate, needs);
    return needs;
  }

  /** Why nothing of a package would do. */
  async #explain(name: string, demands: readonly Demand[]): Promise<SandboxError> {
    const { sources, target, notAsked } = this.#options;
    const found = await Promise.all(sources.map((source) => this.#find(source, name)));
    const note = notAsked === undefined ? "" : ` (${notAsked})`;
    const asked = sources.map(({ description }) => description).join(", ");
    const texts = demands.map(({ text }) => text).join("; ");
    if (!found.some(({ known }) => known)) {
      const where = asked === "" ? "there is no place to get it from" : `there is no such package in ${asked}`;
      return packageError("INVALID", name, `${where}${note} (${texts})`);
    }
    const versions = found.flatMap(({ candidates }) => candidates.map(({ pin }) => pin.version));
    if (versions.length === 0) {
      const unfit = found.flatMap((each) => each.unfit);
      const wanted = `no wheel for WebAssembly (${describeTarget(target)})`;
      return packageError("INVALID", name, `${wanted}: found only ${named(unfit.toReversed())}${note}`);
    }
    const what = demands.length > 1 ? "versions conflict" : "no version fits";
    return packageError("INVALID", name, `${what}: ${texts}; there are ${named([...new Set(versions)])}${note}`);
  }
}

function failure(name: string, demands: readonly Demand[], reason: string, more: readonly string[] = []): Failure {
  const causes = new Set([...demands.flatMap(({ by }) => by ?? []), ...more]);
  return { error: packageError("INVALID", name, reason), causes };
}

function named(names: readonly string[]): string {
  const rest = names.length - mostNamed;
  return names.slice(0, mostNamed).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
