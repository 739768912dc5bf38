import type { SandboxError } from "@sandkit/core";
import type { Budget } from "./budget.js";
import type { Source } from "./candidate.js";
import { dependentsOf, type Installed } from "./installed.js";
import type { MarkerEnvironment } from "./marker.js";
import { Offers } from "./offers.js";
import type { Pin } from "./pin.js";
import { appliesTo, type Requirement } from "./requirement.js";
import { Search } from "./search.js";
import type { Choices } from "./selection.js";
import type { WheelTarget } from "./wheel-name.js";

/** From what, and for what, packages are chosen. */
export interface ResolveOptions {
  /** Asked in this order, the next only where those before have nothing that fits. */
  readonly sources: readonly Source[];
  readonly target: WheelTarget;
  readonly environment: MarkerEnvironment;
  readonly budget: Budget;
  /** What is in the sandbox, by normalised name. It stays where it fits. */
  readonly installed: ReadonlyMap<string, Installed>;
  /** Why a source that one might think of is not asked. */
  readonly notAsked?: string | undefined;
  /** Told what is not as one may think, and no error. */
  readonly onNote: (message: string) => void;
}

/**
 * Chooses a version of each package that is asked for and of all that these need, the newest that go together, and with
 * what is installed. An installed package that was not asked for is changed only where nothing goes together with it.
 * @throws SandboxError `INVALID` naming the package and why it cannot be had; `UNAVAILABLE` where a source is;
 *   OverBudget
 */
export async function resolve(requirements: readonly Requirement[], options: ResolveOptions): Promise<Pin[]> {
  const { installed, environment, budget, onNote } = options;
  const offers = new Offers(options);
  const asked = requirements.filter((requirement) => appliesTo(requirement, environment));
  const dependents = await dependentsOf(installed, environment, budget);
  const movable: Requirement[] = [];
  let first: SandboxError | undefined;
  for (;;) {
    const result = await new Search(offers, { ...options, dependents }).run([...movable, ...asked]);
    if ("choices" in result) return pinsOf(result.choices, onNote);
    first ??= result.error;
    const names = new Set(movable.map(({ name }) => name));
    const more = [...result.causes].filter((name) => installed.has(name) && !names.has(name));
    if (more.length === 0) throw first;
    movable.push(...more.map(anyVersion));
  }
}

function anyVersion(name: string): Requirement {
  return { name, extras: [], specifiers: [], isAddress: false, text: name };
}

async function pinsOf(choices: Choices, onNote: (message: string) => void): Promise<Pin[]> {
  const pins: Pin[] = [];
  for (const [name, { version, candidate, extras }] of choices) {
    if (!candidate) continue;
    pins.push(candidate.pin);
    if (extras.size === 0) continue;
    const { extras: known } = await (candidate.ownNeeds ?? candidate.needs)();
    const unknown = [...extras].filter((extra) => !known?.includes(extra));
    if (unknown.length > 0) onNote(`${name} ${version.text} has no extra ${unknown.join(", ")}`);
  }
  return pins;
}
