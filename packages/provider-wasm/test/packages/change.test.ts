import { describe, expect, it } from "vitest";
import { changePackages } from "../../src/broker/change-packages.js";
import { FileSystem } from "../../src/broker/filesystem.js";
import { HostFiles } from "../../src/broker/host-files.js";
import { installedPackages } from "../../src/broker/installed-packages.js";
import { type PreparedArchive, placeFiles } from "../../src/packages/wheel-layout.js";
import { makeWheel, type WheelOptions } from "./make-wheel.js";
import { makeZip } from "./make-zip.js";

const site = "/usr/local/lib/python3.14/site-packages";

function archive(name: string, version: string, options: WheelOptions = {}): PreparedArchive {
  const { filename, sha256, bytes } = makeWheel(name, version, options);
  return { kind: "wheel", name, version, filename, sha256, bytes };
}

class Box {
  readonly files = new FileSystem(4_000_000);
  readonly host = new HostFiles(this.files);

  constructor() {
    this.host.mkdir(site);
    this.host.mkdir("/usr/local/bin");
  }

  change(remove: readonly string[], ...archives: PreparedArchive[]): string[] {
    return changePackages(this.files, { remove, archives });
  }

  /** Everything in it, with sizes. */
  all(): string[] {
    return this.host.list("/", { recursive: true }).map(({ path, type, size }) => `${path} ${type} ${size}`);
  }

  read(path: string): string {
    const handle = this.host.openRead(path, 0);
    try {
      return Buffer.from(this.host.read(handle, 1_000_000)).toString();
    } finally {
      this.host.closeRead(handle);
    }
  }

  write(path: string, text: string): void {
    const handle = this.host.openWrite(path, { mode: "truncate" });
    this.host.append(handle, Buffer.from(text));
    this.host.commit(handle);
  }
}

const moved: WheelOptions = {
  files: [
    { name: "tool-1.0.data/purelib/tool.py", content: "" },
    { name: "tool-1.0.data/scripts/old-tool", content: "#!python\n" },
    { name: "tool-1.0.data/data/share/tool/a, b.txt", content: "x" },
    { name: "tool-1.0.dist-info/entry_points.txt", content: "[console_scripts]\nrun-tool = tool:main\n" },
  ],
};

describe("a package that is removed", () => {
  it("leaves nothing: not its programs, not what was moved to another place, not what Python has compiled", () => {
    const box = new Box();
    const before = [box.all(), box.files.quota.used];
    box.change([], archive("tool", "1.0", moved));
    expect(box.read("/usr/local/bin/old-tool")).toBe("#!/usr/bin/python3\n");
    expect(box.read("/usr/local/share/tool/a, b.txt")).toBe("x");
    box.write(`${site}/__pycache__/tool.cpython-314.pyc`, "compiled");
    box.write(`${site}/tool-1.0.dist-info/REQUESTED`, "");
    expect(box.change(["tool", "absent"])).toEqual(["tool"]);
    expect([box.all(), box.files.quota.used]).toEqual(before);
  });

  it("takes nothing from outside along, whatever its record says", () => {
    const box = new Box();
    box.change([], archive("leaf", "1.0"));
    box.write("/workspace/mine", "x");
    box.write(`${site}/leaf-1.0.dist-info/RECORD`, "../../../../../workspace/mine,,\n/workspace/mine,,\nleaf.py,,\n");
    box.change(["leaf"]);
    expect(box.read("/workspace/mine")).toBe("x");
    expect(() => box.read(`${site}/leaf.py`)).toThrow("ENOENT");
  });

  it("takes its empty directories along, among many others, and whatever has the names that it needs", () => {
    const box = new Box();
    const paths = Array.from({ length: 600 }, (_, number) => `deep/${number % 2}/${number}/x.py`);
    const own = `${site}/many-1.0.dist-info`;
    box.write(`${own}/METADATA`, "Name: many\n\n");
    box.write(`${own}/RECORD`, paths.map((path) => `${path},,\n`).join(""));
    for (const path of paths) box.write(`${site}/${path}`, "");
    for (let number = 1; number <= 300; number += 1) box.write(`${site}/${"~".repeat(Math.min(number, 250))}`, "");
    box.write(`${site}/~1`, "kept");
    expect(box.change(["many"])).toEqual(["many"]);
    expect(box.all().filter((line) => /deep|many/.test(line))).toEqual([]);
    expect(box.read(`${site}/~1`)).toBe("kept");
  });

  it("stays where its record is longer than anybody's, also by links", () => {
    const box = new Box();
    const record = "/tmp/record";
    box.write(`${site}/a`, "kept");
    box.write(record, "a,\n".repeat(20_000));
    for (let number = 1; number < 10; number += 1) box.host.symlink(record, `${site}/p-${number}.dist-info/RECORD`);
    const before = [box.all(), box.files.quota.used];
    expect(() => box.change(["p"])).toThrow("EOVERFLOW: the record of a package");
    expect([box.all(), box.files.quota.used]).toEqual(before);
    for (let number = 2; number < 10; number += 1) box.host.remove(`${site}/p-${number}.dist-info`, true);
    expect(box.change(["p"])).toEqual(["p"]);
    expect(box.all().filter((line) => /\/(?:a|p-1.*) /.test(line))).toEqual([]);
  });
});

describe("an upgrade", () => {
  it("leaves nothing of the old version", () => {
    const box = new Box();
    box.change([], archive("tool", "1.0", moved));
    box.change(["tool"], archive("tool", "2.0", { files: [{ name: "tool/__init__.py", content: "" }] }));
    const left = box.all().filter((line) => line.includes("tool"));
    expect(left.filter((line) => !line.includes("tool-2.0.dist-info"))).toEqual([
      `${site}/tool directory 4096`,
      `${site}/tool/__init__.py file 0`,
    ]);
    expect(installedPackages(box.files)).toMatchObject({ packages: [{ name: "tool", version: "2.0" }], warnings: [] });
  });

  it("to the same version is one", () => {
    const box = new Box();
    box.change([], archive("leaf", "1.0"));
    box.write(`${site}/leaf.py`, "spoilt");
    box.write(`${site}/leaf-1.0.dist-info/more`, "");
    box.change(["leaf"], archive("leaf", "1.0"));
    expect(box.read(`${site}/leaf.py`)).toBe('VERSION = "1.0"\n');
    expect(box.all().filter((line) => line.includes("more") || line.includes("~"))).toEqual([]);
  });

  it("of which one archive cannot be unpacked changes nothing at all", () => {
    const box = new Box();
    box.change([], archive("tool", "1.0", moved), archive("leaf", "1.0"));
    box.host.symlink("leaf.py", `${site}/link.py`);
    box.host.mkdir(`${site}/empty`);
    const before = [box.all(), box.files.quota.used];
    const bomb = archive("bomb", "1.0", {
      files: [
        { name: "link.py", content: "other" },
        { name: "new/deep/x.py", content: "" },
        { name: "bomb", content: Buffer.alloc(500_000), claimedSize: 100 },
      ],
    });
    const good = archive("leaf", "2.0", { files: [{ name: "leaf.py", content: "new" }] });
    expect(() => box.change(["leaf", "tool"], good, archive("tool", "1.0", moved), bomb)).toThrow("EBADMSG");
    expect([box.all(), box.files.quota.used]).toEqual(before);
    expect(box.read(`${site}/leaf.py`)).toBe('VERSION = "1.0"\n');
  });

  it("that does not fit changes nothing at all, whether that is seen before or on the way", () => {
    const box = new Box();
    box.change([], archive("leaf", "1.0"));
    const before = [box.all(), box.files.quota.used];
    const large = archive("leaf", "2.0", { files: [{ name: "leaf.py", content: Buffer.alloc(5_000_000) }] });
    expect(() => box.change(["leaf"], large)).toThrow("ENOSPC");
    const many = Array.from({ length: 4000 }, (_, number) => ({ name: `m/${number}.py`, content: "" }));
    expect(() => box.change(["leaf"], archive("leaf", "2.0", { files: many }))).toThrow("ENOSPC");
    expect([box.all(), box.files.quota.used]).toEqual(before);
  });
});

describe("what a sandbox says that it has", () => {
  it("is what its files tell, libraries without metadata too", () => {
    const box = new Box();
    const bytes = makeZip([{ name: "libfoo.so", content: "x" }]);
    const library = { kind: "library", name: "lib-foo", version: "1.2", filename: "f.zip", sha256: "", bytes } as const;
    box.change([], archive("tree", "1.0", { requires: ["leaf>=1"] }), library);
    expect(installedPackages(box.files)).toEqual({
      packages: [
        { name: "tree", title: "tree", version: "1.0", summary: "", requires: ["leaf>=1"] },
        { name: "lib-foo", title: "lib-foo", version: "1.2", summary: "", requires: [] },
      ],
      warnings: [],
    });
    expect(box.change(["lib-foo"])).toEqual(["lib-foo"]);
    expect(box.all().filter((line) => line.includes("foo"))).toEqual([]);
  });

  it("is bounded, and what is spoilt is named", () => {
    const box = new Box();
    box.write(`${site}/none-1.0.dist-info/other`, "");
    box.write(`${site}/long-1.0.dist-info/METADATA`, `Name: long\n${"x".repeat(300_000)}`);
    box.write(`${site}/greedy-1.0.dist-info/METADATA`, `Requires-Dist: a\n${"Requires-Dist: leaf\n".repeat(5000)}\n`);
    box.write(`${site}/liar-1.0.dist-info/METADATA`, `Name: other\nVersion: 9\nSummary: ${"s".repeat(9000)}\n\n`);
    const { packages, warnings } = installedPackages(box.files);
    expect(packages.map(({ title, version }) => `${title} ${version}`)).toEqual([
      "none 1.0",
      "long 1.0",
      "greedy 1.0",
      "liar 1.0",
    ]);
    expect(packages[3]?.summary.length).toBe(500);
    expect(packages[2]?.requires).toEqual([]);
    expect(warnings).toEqual([
      "none: its METADATA is not there",
      "long: its METADATA is too long",
      "greedy: what it needs is too much to be looked at",
    ]);
  });

  it("is bounded in all, also where links make much of little", () => {
    const box = new Box();
    const [needy, long] = [`${site}/p0-1.dist-info/METADATA`, `${site}/q0-1.dist-info/METADATA`];
    box.write(needy, `${"Requires-Dist:\n".repeat(900)}\n`);
    box.write(long, `Summary: long\n${"a\n".repeat(60_000)}\n\n`);
    for (let number = 1; number < 200; number += 1) {
      box.host.symlink(needy, `${site}/p${number}-1.dist-info/METADATA`);
      box.host.symlink(long, `${site}/q${number}-1.dist-info/METADATA`);
    }
    const { packages, warnings } = installedPackages(box.files);
    expect(packages).toHaveLength(400);
    expect(packages.filter(({ requires }) => requires.length > 0)).toHaveLength(18);
    expect(packages.filter(({ summary }) => summary === "long").length).toBeLessThan(140);
    expect(warnings).toHaveLength(20);
  });
});

it("places no program before the sandbox's own", () => {
  const entryPoints = "[console_scripts]\npip = pip:main\npip3.14 = pip:main\npython3 = x:y\npip-tool = x:y\n";
  const files = [{ name: "pip-1.0.dist-info/entry_points.txt", content: entryPoints }];
  const placed = placeFiles(archive("pip", "1.0", { files }));
  expect(placed.map(({ path }) => path).filter((path) => path.startsWith("/usr/local/bin/"))).toEqual([
    "/usr/local/bin/pip-tool",
  ]);
});
