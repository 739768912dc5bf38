/** A version as PEP 440 has it, taken apart. */
export interface Version {
  /** As it was written. */
  readonly text: string;
  readonly epoch: number;
  readonly release: readonly number[];
  readonly pre?: readonly [phase: "a" | "b" | "rc", number: number] | undefined;
  readonly post?: number | undefined;
  readonly dev?: number | undefined;
  readonly local: readonly (string | number)[];
}

const longestVersion = 200;
const pattern = new RegExp(
  [
    /^v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)/,
    /(?:[-_.]?(?<phase>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<pre>\d+)?)?/,
    /(?<after>-(?<implicit>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?<post>\d+)?)?/,
    /(?<unfinished>[-_.]?dev[-_.]?(?<dev>\d+)?)?/,
    /(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/,
  ]
    .map(({ source }) => source)
    .join(""),
  "i",
);
const phases = { alpha: "a", a: "a", beta: "b", b: "b", preview: "rc", pre: "rc", c: "rc", rc: "rc" } as const;

/** Undefined for what is no version of PEP 440. */
export function parseVersion(text: string): Version | undefined {
  const trimmed = text.trim();
  const groups = trimmed.length > longestVersion ? undefined : pattern.exec(trimmed)?.groups;
  if (!groups) return undefined;
  const { epoch, release = "", phase, pre, after, implicit, post, unfinished, dev, local } = groups;
  return {
    text: trimmed,
    epoch: Number(epoch ?? 0),
    release: release.split(".").map(Number),
    pre: phase === undefined ? undefined : [phases[phase.toLowerCase() as keyof typeof phases], Number(pre ?? 0)],
    post: after === undefined ? undefined : Number(implicit ?? post ?? 0),
    dev: unfinished === undefined ? undefined : Number(dev ?? 0),
    local: (local?.toLowerCase().split(/[-_.]/) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

/** Whether it is not meant for everybody yet. */
export function isPrerelease({ pre, dev }: Version): boolean {
  return pre !== undefined || dev !== undefined;
}

/** Below zero when `a` is the older one. */
export function compareVersions(a: Version, b: Version): number {
  return comparePublic(a, b) || compareLocal(a.local, b.local);
}

/** Whether two texts mean the same version: `1.0` and `1.0.0` do. */
export function isSameVersion(a: string, b: string): boolean {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  return a === b || (left !== undefined && right !== undefined && compareVersions(left, right) === 0);
}

/** As {@link compareVersions}, whatever the local parts (`+cpu`) are. */
export function comparePublic(a: Version, b: Version): number {
  return (
    a.epoch - b.epoch ||
    compareReleases(a.release, b.release) ||
    comparePairs(preKey(a), preKey(b)) ||
    (a.post ?? -1) - (b.post ?? -1) ||
    compareNumbers(a.dev ?? Number.POSITIVE_INFINITY, b.dev ?? Number.POSITIVE_INFINITY)
  );
}

/** Missing numbers are zeros. */
export function compareReleases(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A development release comes before every phase, a final one after all of them. */
function preKey({ pre, post, dev }: Version): readonly [number, number] {
  if (pre) return [["a", "b", "rc"].indexOf(pre[0]), pre[1]];
  return [post === undefined && dev !== undefined ? -1 : 3, 0];
}

function comparePairs(a: readonly [number, number], b: readonly [number, number]): number {
  return a[0] - b[0] || a[1] - b[1];
}

function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function compareLocal(a: Version["local"], b: Version["local"]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]];
    if (left === right) continue;
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    if (typeof left === typeof right) return left < right ? -1 : 1;
    return typeof left === "string" ? -1 : 1;
  }
  return 0;
}
