/** What the metadata of a sandbox at E2B tells of it. It is fixed when it is made; code inside does not see it. */
export interface SandboxRecord {
  /** Ours, known before E2B has given its own: what a create that was cut off may have left is found by it. */
  readonly mark: string;
  readonly owner: string;
  readonly createdAt: Date;
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  readonly workdir?: string | undefined;
  /** Hash of the options that a second create of the name must have too. */
  readonly options: string;
  readonly detached: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

const prefix = "sandkit.";
const userPrefix = `${prefix}label.`;

/** On every sandbox that Sandkit makes. */
export const managedKey = `${prefix}managed`;
export const markKey = `${prefix}mark`;
export const nameKey = `${prefix}name`;

/** The metadata of a record. */
export function metadataOf(record: SandboxRecord): Record<string, string> {
  return {
    [managedKey]: "true",
    [markKey]: record.mark,
    [`${prefix}owner`]: record.owner,
    [`${prefix}created`]: String(record.createdAt.getTime()),
    [`${prefix}options`]: record.options,
    ...(record.name !== undefined && { [nameKey]: record.name }),
    ...(record.template !== undefined && { [`${prefix}template`]: record.template }),
    ...(record.workdir !== undefined && { [`${prefix}workdir`]: record.workdir }),
    ...(record.detached && { [`${prefix}detached`]: "true" }),
    ...labelMetadata(record.labels),
  };
}

/** The user's labels, as metadata to look for. */
export function labelMetadata(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [userPrefix + key, value]));
}

/** The record of a sandbox's metadata; undefined when Sandkit did not make it. */
export function recordOf(metadata: Readonly<Record<string, string>>): SandboxRecord | undefined {
  const mark = metadata[markKey];
  const owner = metadata[`${prefix}owner`];
  const options = metadata[`${prefix}options`];
  if (mark === undefined || owner === undefined || options === undefined) return undefined;
  const own = Object.entries(metadata).filter(([key]) => key.startsWith(userPrefix));
  return {
    mark,
    owner,
    options,
    createdAt: new Date(Number(metadata[`${prefix}created`] ?? 0)),
    name: metadata[nameKey],
    template: metadata[`${prefix}template`],
    workdir: metadata[`${prefix}workdir`],
    detached: metadata[`${prefix}detached`] === "true",
    labels: Object.fromEntries(own.map(([key, value]) => [key.slice(userPrefix.length), value])),
  };
}
