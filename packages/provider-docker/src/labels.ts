import type { EgressPolicy } from "@sandkit/core";

/** What a container's labels tell of its sandbox. Labels cannot be changed afterwards, from inside or outside. */
export interface SandboxRecord {
  readonly id: string;
  readonly owner: string;
  readonly createdAt: Date;
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  readonly workdir: string;
  /** Hash of the options that a second create of the name must have too. */
  readonly options?: string | undefined;
  readonly detached: boolean;
  /** Lifetime that it was created with, in milliseconds. */
  readonly ttlMs?: number | undefined;
  /** What its programs may be connected with; absent: nothing. */
  readonly egress?: EgressPolicy | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const prefix = "sandkit.";
const userPrefix = `${prefix}label.`;

/** On every container that Sandkit makes, those that only look at an image included. */
export const ownerKey = `${prefix}owner`;
export const createdKey = `${prefix}created`;
export const idKey = `${prefix}id`;
export const nameKey = `${prefix}name`;
export const detachedKey = `${prefix}detached`;

/** Labels of a container with this sandbox in it. */
export function labelsOf(record: SandboxRecord): Record<string, string> {
  return {
    [idKey]: record.id,
    [ownerKey]: record.owner,
    [createdKey]: String(record.createdAt.getTime()),
    [`${prefix}workdir`]: record.workdir,
    ...(record.name !== undefined && { [nameKey]: record.name }),
    ...(record.template !== undefined && { [`${prefix}template`]: record.template }),
    ...(record.options !== undefined && { [`${prefix}options`]: record.options }),
    ...(record.ttlMs !== undefined && { [`${prefix}ttl`]: String(record.ttlMs) }),
    ...(record.egress && { [`${prefix}egress`]: JSON.stringify(record.egress) }),
    ...(record.detached && { [detachedKey]: "true" }),
    ...Object.fromEntries(Object.entries(record.labels).map(([key, value]) => [userPrefix + key, value])),
  };
}

/** The sandbox of a container; undefined when there is none in it. */
export function recordOf(labels: Readonly<Record<string, string>>): SandboxRecord | undefined {
  const id = labels[idKey];
  const owner = labels[ownerKey];
  const workdir = labels[`${prefix}workdir`];
  if (id === undefined || owner === undefined || workdir === undefined) return undefined;
  const own = Object.entries(labels).filter(([key]) => key.startsWith(userPrefix));
  return {
    id,
    owner,
    workdir,
    createdAt: new Date(Number(labels[createdKey] ?? 0)),
    name: labels[nameKey],
    template: labels[`${prefix}template`],
    options: labels[`${prefix}options`],
    detached: labels[detachedKey] === "true",
    ttlMs: labels[`${prefix}ttl`] === undefined ? undefined : Number(labels[`${prefix}ttl`]),
    egress: egressIn(labels[`${prefix}egress`]),
    labels: Object.fromEntries(own.map(([key, value]) => [key.slice(userPrefix.length), value])),
  };
}

/** As it was written here: nobody can change a label. */
function egressIn(label: string | undefined): EgressPolicy | undefined {
  return label === undefined ? undefined : JSON.parse(label);
}

/** A filter of the engine: containers with all these labels, in any state. */
export function withLabels(wanted: readonly string[]) {
  return { all: true, filters: JSON.stringify({ label: wanted }) } as const;
}

/** The filter's form of a user's label. */
export function userLabel(key: string, value: string): string {
  return `${userPrefix}${key}=${value}`;
}
