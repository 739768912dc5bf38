/** What a sandbox's labels at Daytona tell of it. Programs inside cannot change them. */
export interface SandboxRecord {
  readonly owner: string;
  /** Of one creation alone: whether a sandbox that is found is the one that was asked for. */
  readonly creation: string;
  readonly createdAt: Date;
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  readonly workdir?: string | undefined;
  /** Hash of the options that a second create of the name must have too. */
  readonly options: string;
  readonly detached: boolean;
  /** Made from an image, which leaves its resources to the one who makes it. */
  readonly hasImage: boolean;
  /** Its maker is still at work in it: nobody else may have it yet. */
  readonly isPending: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

const prefix = "sandkit.";
const userPrefix = `${prefix}label.`;
const ownerKey = `${prefix}owner`;
const creationKey = `${prefix}creation`;
const optionsKey = `${prefix}options`;
const createdKey = `${prefix}created`;

/** On every sandbox that Sandkit makes: Daytona finds labels by their whole value. */
export const ours = { sandkit: "true" } as const;

/** Labels of the sandbox of a record. */
export function labelsOf(record: SandboxRecord): Record<string, string> {
  const { name, template, workdir, detached, hasImage, isPending } = record;
  return {
    ...ours,
    [ownerKey]: record.owner,
    [creationKey]: record.creation,
    [createdKey]: String(record.createdAt.getTime()),
    [optionsKey]: record.options,
    ...(name !== undefined && { [`${prefix}name`]: name }),
    ...(template !== undefined && { [`${prefix}template`]: template }),
    ...(workdir !== undefined && { [`${prefix}workdir`]: workdir }),
    ...(detached && { [`${prefix}detached`]: "true" }),
    ...(hasImage && { [`${prefix}image`]: "true" }),
    ...(isPending && { [`${prefix}pending`]: "true" }),
    ...userLabels(record.labels),
  };
}

/** The record in a sandbox's labels; undefined when Sandkit has not made it. */
export function recordOf(labels: Readonly<Record<string, string>> = {}): SandboxRecord | undefined {
  const [owner, creation, options] = [labels[ownerKey], labels[creationKey], labels[optionsKey]];
  if (owner === undefined || creation === undefined || options === undefined) return undefined;
  const own = Object.entries(labels).filter(([key]) => key.startsWith(userPrefix));
  return {
    owner,
    creation,
    options,
    createdAt: new Date(Number(labels[createdKey] ?? 0)),
    name: labels[`${prefix}name`],
    template: labels[`${prefix}template`],
    workdir: labels[`${prefix}workdir`],
    detached: labels[`${prefix}detached`] === "true",
    hasImage: labels[`${prefix}image`] === "true",
    isPending: labels[`${prefix}pending`] === "true",
    labels: Object.fromEntries(own.map(([key, value]) => [key.slice(userPrefix.length), value])),
  };
}

/** A user's labels as Daytona has them. */
export function userLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [userPrefix + key, value]));
}
