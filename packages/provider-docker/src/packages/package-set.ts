import { createHash } from "node:crypto";
import type { AskedPackages } from "@sandkit/core";
import type { Indexes } from "./indexes.js";

/** Changed when what is made of a set changes. */
const recipe = 1;
const prefix = "sandkit.packages.";

/** On every image of a set, and what was made over one. */
export const setKey = `${prefix}set`;
/** Id of the image that the set was made over. */
export const baseKey = `${prefix}base`;
/** What was installed: {@link lockText}. */
export const lockKey = `${prefix}lock`;

/** Packages over an image. */
export interface PackageSet {
  /** Of the image, the packages asked for and where they come from: another of any is another set. */
  readonly key: string;
  /** Name of its image. */
  readonly reference: string;
  readonly asked: AskedPackages;
  /** As they were asked for, for people. */
  readonly names: readonly string[];
}

/** Name of the image of the set with this key. */
export function referenceOf(key: string): string {
  return `sandkit/packages:${key}`;
}

/** The set of these packages over the image of this id. */
export function packageSet(base: string, asked: AskedPackages, indexes: Indexes): PackageSet {
  const sorted = { python: [...new Set(asked.python)].sort(), node: [...new Set(asked.node)].sort() };
  const content = JSON.stringify([recipe, base, sorted.python, sorted.node, Object.entries(indexes).sort()]);
  const key = createHash("sha256").update(content).digest("hex").slice(0, 32);
  const names = [...sorted.python, ...sorted.node.map((name) => `npm:${name}`)];
  return { key, reference: referenceOf(key), asked: sorted, names };
}

/** What was installed as one word of text; each is without spaces. */
export function lockText(lock: readonly string[]): string {
  return lock.join(" ");
}

/** The set that an image has, by its labels; undefined when it has none. */
export function setIn(labels: Readonly<Record<string, string>> | undefined) {
  const key = labels?.[setKey];
  const base = labels?.[baseKey];
  if (key === undefined || base === undefined) return undefined;
  return { key, base, lock: (labels?.[lockKey] ?? "").split(" ").filter((entry) => entry !== "") };
}
