import { Pace } from "./pace.js";

/** An installation that has cost enough. */
export class OverBudget extends Error {
  override readonly name = "OverBudget";
}

const mebibyte = 1024 * 1024;
/** For pages and metadata, besides what the sandbox can hold. */
const overheadMiB = 64;
/** However large the sandbox is: all of it is in memory at once. */
const mostArchivesMiB = 1024;
const mostRequests = 2000;
const mostSteps = 2_000_000;
const charactersPerStep = 4;

/** What one installation may cost. Guests ask for them too, and must not fill or occupy the machine of the caller. */
export class Budget {
  readonly #mostBytes: number;
  #bytes = 0;
  #requests = 0;
  #steps = 0;
  readonly #pace = new Pace();

  /** @param diskMiB What the sandbox can hold. */
  constructor(diskMiB: number) {
    this.#mostBytes = (Math.min(diskMiB, mostArchivesMiB) + overheadMiB) * mebibyte;
  }

  /** @throws OverBudget */
  countRequest(): void {
    this.#requests += 1;
    if (this.#requests > mostRequests) throw new OverBudget(`more than ${mostRequests} requests are needed`);
  }

  /** Counts what is held in memory, wherever it comes from. @throws OverBudget */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#mostBytes) return;
    throw new OverBudget(
      `more than ${this.#mostBytes / mebibyte} MiB would be fetched, and the sandbox cannot hold as much`,
    );
  }

  /** Counts comparisons. Gives a promise to await when it is the turn of others. @throws OverBudget */
  countSteps(steps: number): Promise<void> | undefined {
    this.#steps += steps;
    if (this.#steps > mostSteps) throw new OverBudget("there are too many versions and conditions to choose from");
    return this.#pace.next();
  }

  /** Counts what reading a requirement takes, or asking whether it applies. @throws OverBudget */
  countText(text: string, times = 1): Promise<void> | undefined {
    return this.countSteps(times * (1 + Math.ceil(text.length / charactersPerStep)));
  }
}
