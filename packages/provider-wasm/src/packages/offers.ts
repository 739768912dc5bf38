import type { SandboxError } from "@sandkit/core";
import { brief } from "./brief.js";
import type { Budget } from "./budget.js";
import type { Candidate, Found, Needs, Source } from "./candidate.js";
import { type Demand, describeDemand } from "./demand.js";
import { isUnreachable, packageError } from "./errors.js";
import { satisfies } from "./specifier.js";
import { isPrerelease } from "./version.js";
import { describeTarget, type WheelTarget } from "./wheel-name.js";

/** Where packages are looked for. */
export interface OffersOptions {
  /** Asked in this order, the next only where those before have nothing that fits. */
  readonly sources: readonly Source[];
  readonly target: WheelTarget;
  readonly budget: Budget;
  /** Why a source that one might think of is not asked. */
  readonly notAsked?: string | undefined;
}

const mostAhead = 20;
const mostNamed = 5;

/** What there is of each package. Every source is asked once for a name. */
export class Offers {
  readonly #options: OffersOptions;
  readonly #found = new Map<Source, Map<string, Promise<Found>>>();
  readonly #needs = new Map<Candidate, Promise<Needs>>();
  #ahead = 0;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  /**
   * What meets all demands, the best first; versions before their release only where no source has another.
   * @param onExcluded Told, for each version that does not, the first demand that it does not meet.
   * @throws SandboxError `UNAVAILABLE` for a source that cannot be reached, once those before it have given all
   */
  async *fitting(
    name: string,
    demands: readonly Demand[],
    onExcluded?: (demand: Demand) => void,
  ): AsyncGenerator<Candidate, void> {
    const conditions = demands.flatMap(({ requirement }) => requirement.specifiers);
    const allowsEarly = conditions.some(({ namesPrerelease }) => namesPrerelease);
    const early: Candidate[] = [];
    let isFound = false;
    for (const source of this.#options.sources) {
      const found = await this.#reached(source, name, !isFound && early.length > 0);
      for await (const candidate of this.#accepted(found, demands, onExcluded)) {
        const isEarly = !allowsEarly && isPrerelease(candidate.version);
        if (isEarly) early.push(candidate);
        else yield candidate;
        isFound ||= !isEarly;
      }
    }
    if (!isFound) yield* early;
  }

  needsOf(candidate: Candidate): Promise<Needs> {
    const needs = this.#needs.get(candidate) ?? candidate.needs();
    this.#needs.set(candidate, needs);
    return needs;
  }

  /** Begins what will be asked soon. What goes wrong is told when it is asked for. */
  prefetch(demand: Demand): void {
    if (this.#ahead >= mostAhead) return;
    this.#ahead += 1;
    const first = async () => {
      for await (const candidate of this.fitting(demand.requirement.name, [demand])) return this.needsOf(candidate);
      return undefined;
    };
    first()
      .catch(() => undefined)
      .finally(() => {
        this.#ahead -= 1;
      });
  }

  /** Why nothing of a package would do. */
  async explain(name: string, demands: readonly Demand[]): Promise<SandboxError> {
    const { sources, target, notAsked } = this.#options;
    const found = await Promise.all(sources.map((source) => this.#find(source, name)));
    const note = notAsked === undefined ? "" : ` (${notAsked})`;
    const texts = named(demands.map(describeDemand), "; ");
    if (!found.some(({ known }) => known)) {
      const asked = [...new Set(sources.map(({ description }) => description))].join(", ");
      const where = asked === "" ? "there is no place to get it from" : `there is no such package in ${asked}`;
      return packageError("INVALID", name, `${where}${note} (${texts})`);
    }
    const versions = found.flatMap(({ candidates }) => candidates.map(({ pin }) => pin.version));
    if (versions.length === 0) {
      const unfit = found.flatMap((each) => each.unfit);
      const wanted = `no wheel for WebAssembly (${describeTarget(target)})`;
      const instead = unfit.length > 0 ? `found only ${named(unfit.toReversed().map(brief))}` : "no files are listed";
      return packageError("INVALID", name, `${wanted}: ${instead}${note}`);
    }
    const what = demands.length > 1 ? "versions conflict" : "no version fits";
    return packageError(
      "INVALID",
      name,
      `${what}: ${texts}; there are ${named([...new Set(versions)].map(brief))}${note}`,
    );
  }

  async *#accepted({ candidates }: Found, demands: readonly Demand[], onExcluded?: (demand: Demand) => void) {
    const conditions = demands.flatMap(({ requirement }) => requirement.specifiers);
    const exactly = conditions.some(({ text }) => /^==(?!.*\*)/.test(text));
    for (const candidate of candidates) {
      await this.#options.budget.countSteps(conditions.length + 1);
      const excluding = demands.find(({ requirement }) => !satisfies(candidate.version, requirement.specifiers));
      if (excluding) onExcluded?.(excluding);
      else if (!candidate.yanked || exactly) yield candidate;
    }
  }

  /** @param isSpare Another source has something that would do. */
  async #reached(source: Source, name: string, isSpare: boolean): Promise<Found> {
    try {
      return await this.#find(source, name);
    } catch (error) {
      if (isSpare && isUnreachable(error)) return nothing;
      throw error;
    }
  }

  #find(source: Source, name: string): Promise<Found> {
    const known = this.#found.get(source) ?? new Map<string, Promise<Found>>();
    const found = known.get(name) ?? source.find(name);
    this.#found.set(source, known.set(name, found));
    return found;
  }
}

const nothing: Found = { candidates: [], known: false, unfit: [] };

function named(names: readonly string[], separator = ", "): string {
  const rest = names.length - mostNamed;
  return names.slice(0, mostNamed).join(separator) + (rest > 0 ? ` and ${rest} more` : "");
}
