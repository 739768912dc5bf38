import type { Pin } from "./pin.js";
import type { Requirement } from "./requirement.js";
import type { Specifier } from "./specifier.js";
import type { Version } from "./version.js";

/** What a package needs, once it is chosen. */
export interface Needs {
  readonly requires: readonly Requirement[];
  readonly python: readonly Specifier[];
  /** Normalised names of the extras that it knows; undefined where that cannot be told. */
  readonly extras?: readonly string[] | undefined;
}

/** One archive that would do for a package. */
export interface Candidate {
  readonly pin: Pin;
  readonly version: Version;
  /** Withdrawn by its author: only for who asks for exactly this version. */
  readonly yanked: boolean;
  readonly needs: () => Promise<Needs>;
  /** What its archive says itself, where `needs` is the word of others, who tell of no extras. */
  readonly ownNeeds?: (() => Promise<Needs>) | undefined;
}

/** What one source has of a package. */
export interface Found {
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** Whether the source knows the package at all. */
  readonly known: boolean;
  /** Names of files that do not fit this interpreter. */
  readonly unfit: readonly string[];
}

/** A place that packages come from. */
export interface Source {
  /** For errors: `the index https://…`. */
  readonly description: string;
  find(name: string): Promise<Found>;
}
