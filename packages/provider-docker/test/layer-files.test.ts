import { createTarPacker, packTar, type TarHeader, unpackTar } from "modern-tar";
import { describe, expect, it } from "vitest";
import { copyLayerFiles } from "../src/packages/layer-files.js";

type Entry = { readonly header: TarHeader; readonly body?: string };

const folder = (name: string): Entry => ({ header: { name: `${name}/`, type: "directory", size: 0 } });
const file = (name: string, body = "x", header: Partial<TarHeader> = {}): Entry => ({
  header: { name, type: "file", size: Buffer.byteLength(body), ...header },
  body,
});
const link = (name: string, linkname: string, type: "symlink" | "link" = "symlink"): Entry => ({
  header: { name, type, size: 0, linkname },
});

/** What comes through of an archive, and the lock. */
async function copied(entries: readonly Entry[], most: { bytes: number; names?: number } = { bytes: 1_000_000 }) {
  const archive = new Blob([await packTar(entries)]).stream();
  const { readable, controller } = createTarPacker();
  const unpacked = unpackTar(readable);
  unpacked.catch(() => undefined);
  const lock = await copyLayerFiles(archive, controller.add, most);
  controller.finalize();
  return { lock, entries: await unpacked };
}

describe("what an installation has made", () => {
  it("comes through as root's, with nobody's right to write and no right to become somebody", async () => {
    const long = `python/${"long/".repeat(60)}`.slice(0, -1);
    const folders = long.split("/").map((_, at, parts) => folder(parts.slice(0, at + 1).join("/")));
    const { entries } = await copied([
      ...folders,
      file("python/tool", "#!", { mode: 0o6777, uid: 1000, gid: 1000 }),
      file("python/data", "1", { mode: 0o666 }),
      link("python/anywhere", "/etc/passwd"),
      link("python/same", "python/data", "link"),
      file(`${long}/deep.py`, "deep"),
    ]);
    const facts = entries.map(({ header: { name, type, mode, uid } }) => [name, type, mode, uid]);
    expect(facts).toContainEqual(["python/tool", "file", 0o755, 0]);
    expect(facts).toContainEqual(["python/data", "file", 0o644, 0]);
    expect(facts).toContainEqual(["python/anywhere", "symlink", 0o777, 0]);
    expect(entries.at(-1)).toMatchObject({
      header: { name: `${long}/deep.py` },
      data: new TextEncoder().encode("deep"),
    });
  });

  it.each<[string, readonly Entry[]]>([
    ["a name that climbs out", [folder("python"), file("python/../../usr/bin/env")]],
    ["an absolute name", [file("/usr/bin/env")]],
    ["a file through a link", [folder("python"), link("python/out", "/usr/bin"), file("python/out/env")]],
    ["a folder in the place of a link", [folder("python"), link("python/out", "/usr"), folder("python/out")]],
    ["the same name twice", [folder("python"), file("python/a"), file("python/a")]],
    ["a file in no folder", [file("python/a")]],
    ["a folder that takes the place of one of ours", [folder("root"), folder("root/usr"), file("root/usr/env")]],
    ["a file that takes the place of one of ours", [file("Dockerfile", "FROM scratch")]],
    ["a link in the place of a folder of packages", [link("python", "node")]],
    ["a hard link to what was not there", [folder("python"), link("python/a", "/etc/shadow", "link")]],
    ["a device", [folder("python"), { header: { name: "python/null", type: "character-device", size: 0 } }]],
    ["a pipe", [folder("python"), { header: { name: "python/pipe", type: "fifo", size: 0 } }]],
  ])("%s ends it", async (_, entries) => {
    await expect(copied(entries)).rejects.toMatchObject({ code: "INVALID" });
  });

  it("of any size ends where the room for it would", async () => {
    const much = [folder("python"), file("python/a", "x".repeat(600)), file("python/b", "x".repeat(600))];
    await expect(copied(much, { bytes: 1000 })).rejects.toMatchObject({ code: "NO_SPACE" });
    const named = [folder("python"), file(`python/${"x".repeat(600)}`), file(`python/${"y".repeat(600)}`)];
    await expect(copied(named, { bytes: 1000, names: 1000 })).rejects.toMatchObject({ code: "NO_SPACE" });
  });

  it("tells what was installed by its own files, and believes no name that is none", async () => {
    const lock = {
      packages: {
        "": { name: "node" },
        "node_modules/zod": { version: "4.1.12" },
        "node_modules/@types/node": { version: "24.0.0" },
        "node_modules/zod/node_modules/leaf": { version: "1.0.0" },
        'node_modules/a" LABEL x=y': { version: "1.0.0" },
        "node_modules/strange": { version: '1" \n' },
      },
    };
    const site = "python/lib/python3.11/site-packages";
    const told = await copied([
      ...["python", "python/lib", "python/lib/python3.11", site].map(folder),
      ...["Typing_Extensions-4.1.dist-info", "zope.event-5.0.dist-info", 'x"-1.dist-info'].flatMap((name) => [
        folder(`${site}/${name}`),
        file(`${site}/${name}/METADATA`),
      ]),
      folder("node"),
      folder("node/node_modules"),
      file("node/node_modules/.package-lock.json", JSON.stringify(lock)),
    ]);
    expect(told.lock).toEqual([
      "typing-extensions==4.1",
      "zope-event==5.0",
      "npm:@types/node@24.0.0",
      "npm:zod@4.1.12",
    ]);
    const text = file("node/node_modules/.package-lock.json", JSON.stringify({ packages: "x".repeat(100) }));
    expect((await copied([folder("node"), folder("node/node_modules"), text])).lock).toEqual([]);
  });
});
