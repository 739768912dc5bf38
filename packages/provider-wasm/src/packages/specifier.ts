import { brief } from "./brief.js";
import {
  comparePublic,
  compareReleases,
  compareVersions,
  isPrerelease,
  parseVersion,
  type Version,
} from "./version.js";

/** One condition on a version, such as `>=2`. */
export interface Specifier {
  /** As it was written, without spaces. */
  readonly text: string;
  /** Allows versions before a release: it names one itself. */
  readonly namesPrerelease: boolean;
  readonly accepts: (version: Version) => boolean;
}

/**
 * The conditions of a list such as `>=2,!=2.1.*`.
 * @throws SyntaxError naming the one that is none
 */
export function parseSpecifiers(text: string): Specifier[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(parseSpecifier);
}

/** Whether a version meets all of them. */
export function satisfies(version: Version, specifiers: readonly Specifier[]): boolean {
  return specifiers.every(({ accepts }) => accepts(version));
}

function parseSpecifier(text: string): Specifier {
  const match = /^(===|~=|==|!=|<=|>=|<|>)\s*(\S+)$/.exec(text);
  const [, operator = "", written = ""] = match ?? [];
  if (!match) throw new SyntaxError(`"${brief(text)}" is no condition on a version`);
  if (operator === "===") {
    const exactly = written.toLowerCase();
    return {
      text: operator + written,
      namesPrerelease: true,
      accepts: (version) => version.text.toLowerCase() === exactly,
    };
  }
  const isPrefix = written.endsWith(".*");
  const version = parseVersion(isPrefix ? written.slice(0, -2) : written);
  if (!version) throw new SyntaxError(`"${brief(text)}": "${brief(written)}" is no version`);
  const accepts = isPrefix ? prefixCondition(operator, version) : condition(operator, version);
  if (!accepts) throw new SyntaxError(`"${brief(text)}": that version cannot stand after ${operator}`);
  return { text: operator + written, namesPrerelease: operator !== "!=" && isPrerelease(version), accepts };
}

type Condition = ((version: Version) => boolean) | undefined;

function prefixCondition(operator: string, wanted: Version): Condition {
  const { epoch, release, post, local } = wanted;
  if (isPrerelease(wanted) || post !== undefined || local.length > 0) return undefined;
  if (operator === "==") return (version) => startsWith(version, epoch, release);
  if (operator === "!=") return (version) => !startsWith(version, epoch, release);
  return undefined;
}

function condition(operator: string, wanted: Version): Condition {
  if (wanted.local.length > 0 && !/^[=!]=$/.test(operator)) return undefined;
  switch (operator) {
    case "==":
      return (version) => isSame(version, wanted);
    case "!=":
      return (version) => !isSame(version, wanted);
    case ">=":
      return (version) => comparePublic(version, wanted) >= 0;
    case "<=":
      return (version) => comparePublic(version, wanted) <= 0;
    case "<":
      return (version) => comparePublic(version, wanted) < 0 && !(isPrerelease(version) && isBefore(version, wanted));
    case ">":
      return (version) => comparePublic(version, wanted) > 0 && !isAfter(version, wanted);
    default: {
      const series = wanted.release.slice(0, -1);
      if (series.length === 0) return undefined;
      return (version) => comparePublic(version, wanted) >= 0 && startsWith(version, wanted.epoch, series);
    }
  }
}

/** A local part counts only where the condition has one. */
function isSame(version: Version, wanted: Version): boolean {
  return (wanted.local.length > 0 ? compareVersions : comparePublic)(version, wanted) === 0;
}

/** `1.0a1` is no version below `1.0`. */
function isBefore(version: Version, wanted: Version): boolean {
  return !isPrerelease(wanted) && isSameRelease(version, wanted);
}

/** `1.0.post1` is no version above `1.0`. */
function isAfter(version: Version, wanted: Version): boolean {
  return version.post !== undefined && wanted.post === undefined && isSameRelease(version, wanted);
}

function isSameRelease(version: Version, wanted: Version): boolean {
  return version.epoch === wanted.epoch && compareReleases(version.release, wanted.release) === 0;
}

function startsWith(version: Version, epoch: number, release: readonly number[]): boolean {
  const own = release.map((_, index) => version.release[index] ?? 0);
  return version.epoch === epoch && compareReleases(own, release) === 0;
}
