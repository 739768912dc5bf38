import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PackageCache } from "../../src/packages/cache.js";
import { PackageInstaller } from "../../src/packages/installer.js";
import type { PresentPackage } from "../../src/packages/present-package.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

let index: LocalIndex;
let cacheDir: string;

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "sandkit-cache-"));
  index = new LocalIndex();
  await index.start();
  index.add(makeWheel("leaf", "1.0"));
});
afterEach(async () => {
  await index.stop();
  await rm(cacheDir, { recursive: true });
});

const notes = async () => (await readdir(cacheDir)).filter((name) => name.endsWith(".json"));
const prepare = (installed?: ReadonlyMap<string, PresentPackage>) =>
  new PackageInstaller({ indexUrl: index.url, cacheDir }, {}).prepare({
    requirements: ["leaf"],
    network: true,
    installed,
  });

describe("notes of what was chosen", () => {
  it("spare the index for the next sandbox, and are not made for what guests ask for", async () => {
    await prepare(new Map());
    expect(await notes()).toEqual([]);
    await prepare();
    expect(await notes()).toHaveLength(1);
    const before = index.requests.length;
    expect(await prepare()).toMatchObject([{ name: "leaf", version: "1.0" }]);
    expect(index.requests.length).toBe(before);
  });

  it.each(["", "[{", "{}", '[{"name":"leaf"}]', "null"])("that are damaged count for none: %j", async (text) => {
    await prepare();
    const [name = ""] = await notes();
    await writeFile(join(cacheDir, name), text);
    const before = index.requests.length;
    expect(await prepare()).toMatchObject([{ name: "leaf", version: "1.0" }]);
    expect(index.requests.length).toBeGreaterThan(before);
    expect(JSON.parse(await readFile(join(cacheDir, name), "utf8"))).toHaveLength(1);
  });

  it("go when they are old, or too many, as do files that were never finished", async () => {
    const old = new Date(Date.now() - 40 * 24 * 60 * 60_000);
    for (let number = 0; number < 510; number += 1) await writeFile(join(cacheDir, `${number}.json`), "[]");
    for (const name of ["old.json", "x.whl.1234"]) {
      await writeFile(join(cacheDir, name), "[]");
      await utimes(join(cacheDir, name), old, old);
    }
    await new PackageCache(cacheDir).keepNote("new", "[]");
    const left = await readdir(cacheDir);
    expect(left).toHaveLength(500);
    expect(left).not.toContain("old.json");
    expect(left).not.toContain("x.whl.1234");
  });
});

it("wheels that were changed on the disk are fetched again", async () => {
  const [archive] = await prepare();
  await writeFile(join(cacheDir, `${archive?.sha256}.whl`), "something else");
  expect(await prepare()).toMatchObject([{ sha256: archive?.sha256, bytes: archive?.bytes }]);
});
