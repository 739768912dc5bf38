import { brief } from "./brief.js";
import { type Marker, type MarkerEnvironment, parseMarker } from "./marker.js";
import { parseSpecifiers, type Specifier } from "./specifier.js";

/** What is asked of one package, as PEP 508 writes it: `requests[socks]>=2,<3; python_version >= "3.9"`. */
export interface Requirement {
  /** Normalised. */
  readonly name: string;
  readonly extras: readonly string[];
  readonly specifiers: readonly Specifier[];
  readonly marker?: Marker | undefined;
  /** By address, not from an index: never honoured, but it may not apply here. */
  readonly isAddress: boolean;
  /** As it was written. */
  readonly text: string;
}

const longestRequirement = 2000;

/** Names that mean the same package are equal when normalised. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** @throws SyntaxError saying what is wrong with it */
export function parseRequirement(text: string): Requirement {
  const written = text.trim();
  if (written.length > longestRequirement) throw new SyntaxError(`"${brief(written)}" is too long`);
  if (/^(?:[a-z]+\+?[a-z]*:|\.{0,2}\/)|^[^@]*\.(?:whl|tar\.gz)$/i.test(written)) {
    throw new SyntaxError(`"${brief(written)}": packages come by name, not from files or addresses`);
  }
  const match = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)\s*(?:\[([^\]]*)\])?\s*([^;]*)(?:;(.*))?$/is.exec(written);
  if (!match) throw new SyntaxError(`"${brief(written)}" names no package`);
  const [, name = "", extras = "", conditions = "", marker] = match;
  const isAddress = conditions.startsWith("@");
  const list = isAddress ? "" : conditions.trim().replace(/^\((.*)\)$/s, "$1");
  const names = extras.split(",").map((extra) => extra.trim());
  return {
    name: normalizeName(name),
    extras: names.filter((extra) => extra !== "").map(normalizeName),
    specifiers: parseSpecifiers(list),
    // Old metadata has a semicolon with nothing behind it.
    marker: marker === undefined || marker.trim() === "" ? undefined : parseMarker(marker),
    isAddress,
    text: written,
  };
}

/** Whether it holds here, for one who asks with these extras. */
export function appliesTo(
  { marker }: Requirement,
  environment: MarkerEnvironment,
  extras: Iterable<string> = [],
): boolean {
  if (!marker) return true;
  return ["", ...extras].some((extra) => marker({ ...environment, extra }));
}
