import { setIn } from "./packages/package-set.js";

const prefix = "sandkit.snapshot.";

/** On the image of every snapshot. */
export const snapshotKey = `${prefix}id`;
export const snapshotBytesKey = `${prefix}bytes`;

/** What the labels of its image tell of a snapshot. */
export interface SnapshotRecord {
  readonly id: string;
  readonly name?: string | undefined;
  readonly createdAt: Date;
  /** Id of the image that its sandbox was made of. */
  readonly base: string;
  /** Id of the image that packages were added to, to make that; absent: none were. */
  readonly origin?: string | undefined;
  readonly template?: string | undefined;
  readonly workdir: string;
  /** It has parts of a root that could be written to. */
  readonly withRoot: boolean;
  readonly sizeBytes?: number | undefined;
}

/** All but its size, which is known last. */
export function snapshotLabels(record: SnapshotRecord): Record<string, string> {
  return {
    [snapshotKey]: record.id,
    [`${prefix}created`]: String(record.createdAt.getTime()),
    [`${prefix}base`]: record.base,
    [`${prefix}workdir`]: record.workdir,
    ...(record.name !== undefined && { [`${prefix}name`]: record.name }),
    ...(record.template !== undefined && { [`${prefix}template`]: record.template }),
    ...(record.withRoot && { [`${prefix}root`]: "true" }),
  };
}

/** Undefined when the image is no snapshot. */
export function snapshotOf(labels: Readonly<Record<string, string>> | undefined): SnapshotRecord | undefined {
  const id = labels?.[snapshotKey];
  const base = labels?.[`${prefix}base`];
  const workdir = labels?.[`${prefix}workdir`];
  if (!labels || !id || base === undefined || workdir === undefined) return undefined;
  const bytes = labels[snapshotBytesKey];
  return {
    id,
    base,
    origin: setIn(labels)?.base,
    workdir,
    createdAt: new Date(Number(labels[`${prefix}created`] ?? 0)),
    name: labels[`${prefix}name`],
    template: labels[`${prefix}template`],
    withRoot: labels[`${prefix}root`] === "true",
    sizeBytes: bytes === undefined ? undefined : Number(bytes),
  };
}
