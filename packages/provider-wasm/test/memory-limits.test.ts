import { describe, expect, it } from "vitest";
import { baseMiB, mostMemoryMiB, mostNested, mostShellsKept, perWorkerMiB } from "../src/memory-limits.js";

const usual = { maxWorkers: 4, warmWorkers: 1, memoryMiB: 512, diskMiB: 256 };
const large = 1024 * 1024;

describe("the operating system's limit", () => {
  it("lies above what the child lets its programs, shells and their programs take together", () => {
    const workers = 2 * usual.maxWorkers + mostNested;
    const allowed =
      baseMiB + usual.diskMiB + workers * (usual.memoryMiB + perWorkerMiB) + mostShellsKept * perWorkerMiB;
    expect(mostMemoryMiB(usual, large)).toBeGreaterThan(allowed);
  });

  it("is not more than the machine has, unless programs alone may need it", () => {
    expect(mostMemoryMiB(usual, 12_000)).toBe(12_000);
    const programs = 2 * (baseMiB + usual.diskMiB + 5 * (usual.memoryMiB + perWorkerMiB));
    expect(mostMemoryMiB(usual, 4000)).toBe(programs);
  });
});
