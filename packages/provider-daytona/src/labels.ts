import { decodeRecord, encodeRecord, labelValues, type SandboxRecord } from "@sandkit/core/kit";

const imageKey = "sandkit.image";

/** On every sandbox that Sandkit makes: Daytona finds labels by their whole value. */
const ours = { sandkit: "true" } as const;

/**
 * Labels of the sandbox of a record. Programs inside cannot change them.
 * @param hasImage Made from an image, which leaves its resources to the one who makes it.
 */
export function labelsOf(record: SandboxRecord, hasImage: boolean): Record<string, string> {
  return { ...encodeRecord(record), ...ours, ...(hasImage && { [imageKey]: "true" }) };
}

/** What the labels of a sandbox tell; the record is undefined when Sandkit has not made it. */
export function readLabels(labels: Readonly<Record<string, string>> = {}): {
  readonly record: SandboxRecord | undefined;
  readonly hasImage: boolean;
} {
  return { record: decodeRecord(labels), hasImage: labels[imageKey] === "true" };
}

/** What Daytona is to be asked for, to find the sandboxes with these labels of the user. */
export function wantedLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...labelValues(labels), ...ours };
}
