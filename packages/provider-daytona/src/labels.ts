import { decodeRecord, encodeRecord, labelValues, type SandboxRecord } from "@sandkit/core";

/** What a sandbox's labels at Daytona tell of it. Programs inside cannot change them. */
export interface DaytonaRecord extends SandboxRecord {
  /** Of one creation alone: whether a sandbox that is found is the one that was asked for. */
  readonly creation: string;
  /** Made from an image, which leaves its resources to the one who makes it. */
  readonly hasImage: boolean;
  /** Its maker is still at work in it: nobody else may have it yet. */
  readonly isPending: boolean;
}

const creationKey = "sandkit.creation";
const imageKey = "sandkit.image";
const pendingKey = "sandkit.pending";

/** On every sandbox that Sandkit makes: Daytona finds labels by their whole value. */
const ours = { sandkit: "true" } as const;

/** Labels of the sandbox of a record. */
export function labelsOf(record: DaytonaRecord): Record<string, string> {
  return {
    ...encodeRecord(record),
    ...ours,
    [creationKey]: record.creation,
    ...(record.hasImage && { [imageKey]: "true" }),
    ...(record.isPending && { [pendingKey]: "true" }),
  };
}

/** The record in a sandbox's labels; undefined when Sandkit has not made it. */
export function recordOf(labels: Readonly<Record<string, string>> = {}): DaytonaRecord | undefined {
  const record = decodeRecord(labels);
  const creation = labels[creationKey];
  if (!record || creation === undefined) return undefined;
  return { ...record, creation, hasImage: labels[imageKey] === "true", isPending: labels[pendingKey] === "true" };
}

/** What Daytona is to be asked for, to find the sandboxes with these labels of the user. */
export function wantedLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...labelValues(labels), ...ours };
}
