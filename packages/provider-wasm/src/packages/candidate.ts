import type { Requirement } from "./requirement.js";
import type { Specifier } from "./specifier.js";
import type { Version } from "./version.js";

/** Where an archive's bytes come from. Plain data: it is noted in the cache. */
type Origin = { readonly from: "directory"; readonly path: string } | { readonly from: "web"; readonly url: string };

/** One archive that is wanted in a sandbox. Plain data. */
export interface Pin {
  readonly kind: "wheel" | "library";
  /** Normalised. */
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  /** Absent for wheels of the local directory, which are trusted as they are. */
  readonly sha256?: string | undefined;
  readonly origin: Origin;
}

/** What a package needs, once it is chosen. */
export interface Needs {
  readonly requires: readonly Requirement[];
  readonly python: readonly Specifier[];
  /** Of which extras it knows; undefined where that cannot be told. */
  readonly extras?: readonly string[] | undefined;
}

/** One archive that would do for a package. */
export interface Candidate {
  readonly pin: Pin;
  readonly version: Version;
  /** Withdrawn by its author: only for who asks for exactly this version. */
  readonly yanked: boolean;
  readonly needs: () => Promise<Needs>;
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
