import { expect, it } from "vitest";
import { labelMetadata, metadataOf, recordOf, type SandboxRecord } from "../src/metadata.js";

const record: SandboxRecord = {
  mark: "m",
  owner: "boot:1:2",
  createdAt: new Date(1_700_000_000_123),
  name: "n",
  template: "python",
  workdir: "/work dir",
  options: "hash",
  detached: true,
  labels: { purpose: "Ä b", "sandkit.name": "mine", "": "empty" },
};

it("says of a sandbox what was written on it, labels like our own keys included", () => {
  expect(recordOf(metadataOf(record))).toEqual(record);
  const { name, template, workdir, ...needed } = { ...record, detached: false, labels: {} };
  expect(recordOf(metadataOf(needed))).toEqual({ ...needed, name: undefined, template: undefined, workdir: undefined });
});

it("knows nothing of sandboxes that others made", () => {
  expect(recordOf({ owner: "somebody", "sandkit.label.a": "b" })).toBeUndefined();
});

it("looks for a label where it was written", () => {
  expect(metadataOf(record)).toMatchObject(labelMetadata({ purpose: "Ä b" }));
});
