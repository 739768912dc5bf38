import { type EgressPolicy, z } from "@sandkit/core";
import { recordInName } from "./claimed-name.js";
import { parsedJson } from "./parsed-json.js";

/** What a container tells of its sandbox: by its labels, which cannot be changed afterwards, or by its name. */
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
  /** What `packages` of the create came to. */
  readonly packages?: readonly string[] | undefined;
  /** Key of the set of packages that is installed in it: then it is nobody's sandbox. */
  readonly installs?: string | undefined;
  /** What its programs may be connected with; absent: nothing. */
  readonly egress?: EgressPolicy | undefined;
  /** Lifetime that it was created with, in milliseconds. */
  readonly ttlMs?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const prefix = "sandkit.";
const userPrefix = `${prefix}label.`;

/** On every container that Sandkit makes, those that only look at an image included. */
export const ownerKey = `${prefix}owner`;
export const createdKey = `${prefix}created`;
const idKey = `${prefix}id`;
export const nameKey = `${prefix}name`;
export const detachedKey = `${prefix}detached`;
/** On those that were started before anybody asked for a sandbox. */
const spareKey = `${prefix}spare`;
const installsKey = `${prefix}installs`;
const packagesKey = `${prefix}packages`;
/** Says which labels are ours: a container has those of its image too, and an image may say anything. */
const ownKey = `${prefix}own`;

/** Labels of a container with this sandbox in it. */
export function labelsOf(record: SandboxRecord): Record<string, string> {
  return markedOwn({
    [idKey]: record.id,
    [ownerKey]: record.owner,
    [createdKey]: String(record.createdAt.getTime()),
    [`${prefix}workdir`]: record.workdir,
    ...(record.name !== undefined && { [nameKey]: record.name }),
    ...(record.template !== undefined && { [`${prefix}template`]: record.template }),
    ...(record.options !== undefined && { [`${prefix}options`]: record.options }),
    ...(record.egress && { [`${prefix}egress`]: JSON.stringify(record.egress) }),
    ...(record.ttlMs !== undefined && { [`${prefix}ttl`]: String(record.ttlMs) }),
    ...(record.detached && { [detachedKey]: "true" }),
    ...(record.packages && { [packagesKey]: record.packages.join(" ") }),
    ...(record.installs !== undefined && { [installsKey]: record.installs }),
    ...Object.fromEntries(Object.entries(record.labels).map(([key, value]) => [userPrefix + key, value])),
  });
}

/** Labels of a container that waits for its sandbox. */
export function spareLabels(owner: string): Record<string, string> {
  return markedOwn({ [ownerKey]: owner, [createdKey]: String(Date.now()), [spareKey]: "true" });
}

function markedOwn(labels: Record<string, string>): Record<string, string> {
  return { ...labels, [ownKey]: JSON.stringify(Object.keys(labels)) };
}

function ownLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const keys = z.array(z.string()).safeParse(parsedJson(labels[ownKey]));
  const own = new Set(keys.data);
  return Object.fromEntries(Object.entries(labels).filter(([key]) => own.has(key)));
}

/**
 * The sandbox of a container; undefined when there is none in it.
 * @param name Of the container, as the engine tells it.
 */
export function recordOf(all: Readonly<Record<string, string>>, name = ""): SandboxRecord | undefined {
  const labels = ownLabels(all);
  const id = labels[idKey];
  const owner = labels[ownerKey];
  if (labels[spareKey] !== undefined && owner !== undefined) return recordInName(name, owner);
  const workdir = labels[`${prefix}workdir`];
  if (id === undefined || owner === undefined || workdir === undefined || installsKey in labels) return undefined;
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
    packages: labels[packagesKey]?.split(" ").filter((entry) => entry !== ""),
    egress: egressIn(labels[`${prefix}egress`]),
    ttlMs: labels[`${prefix}ttl`] === undefined ? undefined : Number(labels[`${prefix}ttl`]),
    labels: Object.fromEntries(own.map(([key, value]) => [key.slice(userPrefix.length), value])),
  };
}

const egressPolicy = z.object({
  allow: z.union([z.literal("public"), z.array(z.string())]),
  inner: z.optional(z.array(z.string())),
});

/** As it was written here. What somebody else has written into the labels of a container of theirs allows nothing. */
function egressIn(label: string | undefined): EgressPolicy | undefined {
  return egressPolicy.safeParse(parsedJson(label)).data;
}

/** A filter of the engine: containers with all these labels, in any state. */
export function withLabels(wanted: readonly string[]) {
  return { all: true, filters: JSON.stringify({ label: wanted }) } as const;
}
