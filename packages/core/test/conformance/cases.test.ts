import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Feature, features } from "../../src/capabilities.js";
import { conformanceCases, notApplicable } from "../../src/conformance/index.js";
import { programNames } from "../../src/conformance/programs.js";
import { reports } from "./reports.js";

const groups = [
  "capabilities",
  "lifecycle",
  "errors",
  "approve",
  "exec",
  "stdin",
  "output",
  "kill",
  "process",
  "files",
  "kernel",
  "concurrency",
  "resources",
  "network",
  "packages",
  "git",
];

/** Features whose proof needs what no provider has yet. */
const withoutCases: readonly Feature[] = ["resources.cpu"];

const duplicates = (values: readonly string[]) => values.filter((value, index) => values.indexOf(value) !== index);

describe("the cases", () => {
  it("have ids and titles that name each alone", () => {
    expect(duplicates(conformanceCases.map(({ id }) => id))).toEqual([]);
    expect(duplicates(conformanceCases.map(({ title }) => title))).toEqual([]);
  });

  it("have dotted ids in known groups, and titles without an end mark", () => {
    for (const { id, title } of conformanceCases) {
      expect(id).toMatch(/^[a-z0-9]+(\.[a-z0-9-]+)+$/);
      expect(groups).toContain(id.split(".")[0]);
      expect(title).not.toMatch(/[.!]$/);
    }
  });

  it("need features, programs and traits that exist", () => {
    for (const { needs, without = [], programs = [] } of conformanceCases) {
      for (const feature of [...needs, ...without]) expect(Object.keys(features)).toContain(feature);
      for (const program of programs) expect(programNames).toContain(program);
    }
  });

  it("prove every feature but those that no provider has yet", () => {
    const covered = new Set(conformanceCases.flatMap(({ needs }) => needs));
    const uncovered = Object.keys(features).filter((feature) => !covered.has(feature as Feature));
    expect(uncovered.sort()).toEqual([...withoutCases].sort());
  });

  it("answer every one of the reports, or say why not", () => {
    const answered = new Set(conformanceCases.flatMap(({ reports: of = [] }) => of));
    const open = Object.values(reports)
      .flat()
      .filter((report) => !answered.has(report) && !(report in notApplicable));
    expect(open).toEqual([]);
    expect([...answered].filter((report) => report in notApplicable)).toEqual([]);
    expect([...answered].filter((report) => !Object.values(reports).flat().includes(report))).toEqual([]);
  });
});

describe("the probe programs", () => {
  it("are written in sh and Python, those that need what sh does not have in JavaScript too", () => {
    const read = (file: string) =>
      readFileSync(new URL(`../../src/conformance/programs/${file}`, import.meta.url), "utf8");
    const [sh, python, javascript] = [read("probe.sh"), read("probe.py"), read("probe.cjs")];
    for (const name of programNames) {
      expect(python).toContain(`"${name}": `);
      if (["connect", "fetch", "serve"].includes(name)) expect(javascript).toContain(`  ${name}(`);
      else expect(sh).toMatch(new RegExp(`^${name}\\)`, "m"));
    }
  });
});
