import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord, labelValues, nameValues, optionsDigest } from "../../src/remote/record.js";

const record = {
  owner: "boot/1:42:7",
  createdAt: new Date(1_700_000_000_000),
  name: "build",
  template: "python",
  workdir: "/home/user",
  options: "abc",
  detached: true,
  creation: "d1f0",
  ttlMs: 600_000,
  idleMs: 60_000,
  labels: { team: "Zürich 東京", "sandkit.owner": "mallory", __proto__x: "", a: "1" },
};

describe("a record", () => {
  it("comes back from a vendor's labels as it was", () => {
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  it("comes back with what it has", () => {
    const small = { owner: "o", creation: "c", createdAt: new Date(0), detached: false, labels: {} };
    expect(decodeRecord(encodeRecord(small))).toEqual({
      ...small,
      name: undefined,
      template: undefined,
      workdir: undefined,
      options: undefined,
      ttlMs: undefined,
      idleMs: undefined,
    });
  });

  it("is found by its name and by the user's labels", () => {
    const values = encodeRecord(record);
    expect(values).toMatchObject({ ...nameValues("build"), ...labelValues({ a: "1" }) });
  });

  it.each([
    {},
    { "sandkit.owner": "o" },
    { "sandkit.owner": "o", "sandkit.creation": "c", "sandkit.created": "yesterday" },
    { team: "x" },
  ])("is not seen in the labels of others: %j", (values) => {
    expect(decodeRecord(values as Record<string, string>)).toBeUndefined();
  });

  it.each([
    ["a long value", { team: "x".repeat(1025) }],
    ["a long name", { ["x".repeat(129)]: "" }],
    ["too many", Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, ""]))],
  ])("refuses labels with %s", (_what, labels) => {
    expect(() => encodeRecord({ ...record, labels })).toThrow(expect.objectContaining({ code: "INVALID" }));
  });
});

describe("the digest of options", () => {
  it("is the same for the same options in another order, and does not tell them", () => {
    const one = optionsDigest({ template: "python", env: { A: "secret", B: "2" } });
    expect(optionsDigest({ env: { B: "2", A: "secret" }, template: "python" })).toBe(one);
    expect(optionsDigest({ template: "python", env: { A: "other", B: "2" } })).not.toBe(one);
    expect(one).toMatch(/^[0-9a-f]{32}$/);
  });
});
