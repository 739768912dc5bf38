import type { FilesystemEvent, Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./emulator.js";

let cloud: Cloud;
let sandbox: Sandbox;
let home: string;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.client.Sandbox.create({ timeoutMs: 600_000 });
  home = (await sandbox.commands.run("pwd")).stdout.trim();
});
afterAll(() => cloud.emulator.close());

describe("a file of the emulated E2B", () => {
  const names = ["plain.txt", "with space", "quote\"s'", "ünïcode 🦀", "-dash", "new\nline", "back\\slash", "per%cent"];

  it.each(names)("can be called %j", async (name) => {
    const written = await sandbox.files.write(`named/${name}`, name);
    expect(written).toMatchObject({ name, type: "file", path: `${home}/named/${name}` });
    expect(await sandbox.files.read(`named/${name}`)).toBe(name);
    expect(await sandbox.files.exists(`named/${name}`)).toBe(true);
    await sandbox.files.remove(`named/${name}`);
    expect(await sandbox.files.exists(`named/${name}`)).toBe(false);
  });

  it("is written in every way and read in every form", async () => {
    const bytes = new Uint8Array(1_000_003).map((_, index) => index * 7);
    const ways = [{}, { useOctetStream: true }, { gzip: true }];
    for (const way of ways) {
      await sandbox.files.write("ways.bin", bytes.buffer, way);
      for (const gzip of [false, true]) {
        const read = await sandbox.files.read("ways.bin", { format: "bytes", gzip });
        expect(Buffer.compare(read, bytes)).toBe(0);
      }
    }
    await sandbox.files.write("empty", "");
    expect(await sandbox.files.read("empty")).toBe("");
    expect((await sandbox.files.read("empty", { format: "bytes" })).length).toBe(0);
  });

  it("is written with many others in one request", async () => {
    const entries = Array.from({ length: 20 }, (_, index) => ({ path: `many/${index}.txt`, data: String(index) }));
    const written = await sandbox.files.writeFiles(entries);
    expect(written.map(({ path }) => path)).toEqual(entries.map(({ path }) => `${home}/${path}`));
    expect(await sandbox.files.read("many/19.txt")).toBe("19");
  });

  it("of 30 MB goes up and down as a stream", async () => {
    const piece = new Uint8Array(1_000_000).map((_, index) => index);
    let left = 30;
    const up = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left === 0) controller.close();
        else controller.enqueue(piece);
        left -= 1;
      },
    });
    await sandbox.files.write("large.bin", up);
    expect((await sandbox.files.getInfo("large.bin")).size).toBe(30_000_000);
    let size = 0;
    for await (const chunk of await sandbox.files.read("large.bin", { format: "stream" })) size += chunk.length;
    expect(size).toBe(30_000_000);
  }, 60_000);

  it("that is missing or a directory is refused as the real one does", async () => {
    await expect(sandbox.files.read("missing")).rejects.toMatchObject({ name: "FileNotFoundError" });
    await sandbox.files.makeDir("folder");
    await expect(sandbox.files.read("folder")).rejects.toMatchObject({ name: "InvalidArgumentError" });
    await expect(sandbox.files.write("folder", "x")).rejects.toMatchObject({ name: "InvalidArgumentError" });
    await expect(sandbox.files.write("a", "x", { user: "stranger" })).rejects.toMatchObject({
      name: "AuthenticationError",
    });
    await expect(sandbox.files.write("a", "x", { metadata: { a: "b" } })).rejects.toThrow("not emulated");
  });

  it("is told of in full", async () => {
    await sandbox.files.write("told/a.sh", "#!/bin/sh\n");
    await sandbox.commands.run("chmod 754 a.sh; ln -s a.sh link; ln -s nothing broken; mkdir -p d/e/f", {
      cwd: "told",
    });
    expect(await sandbox.files.getInfo("told/a.sh")).toMatchObject({
      name: "a.sh",
      type: "file",
      path: `${home}/told/a.sh`,
      size: 10,
      mode: 0o754,
      permissions: "-rwxr-xr--",
      owner: "user",
      group: "user",
      modifiedTime: expect.any(Date),
    });
    expect(await sandbox.files.getInfo("told/link")).toMatchObject({
      type: "file",
      permissions: "Lrwxrwxrwx",
      symlinkTarget: `${home}/told/a.sh`,
    });
    const flat = (await sandbox.files.list("told")).map(({ name }) => name);
    expect(flat.sort()).toEqual(["a.sh", "d", "link"]);
    const deep = (await sandbox.files.list("told", { depth: 3 })).map(({ path }) => path.slice(home.length + 1));
    expect(deep.sort()).toEqual(["told/a.sh", "told/d", "told/d/e", "told/d/e/f", "told/link"]);
    await expect(sandbox.files.list("nowhere")).rejects.toMatchObject({ name: "FileNotFoundError" });
    await expect(sandbox.files.list("told/a.sh")).rejects.toMatchObject({ name: "InvalidArgumentError" });
  });

  it("is moved, and directories are made once", async () => {
    expect(await sandbox.files.makeDir("one/two")).toBe(true);
    expect(await sandbox.files.makeDir("one/two")).toBe(false);
    await sandbox.files.write("one/two/f", "x");
    expect(await sandbox.files.rename("one/two", "three/four")).toMatchObject({
      path: `${home}/three/four`,
      type: "dir",
    });
    expect(await sandbox.files.read("three/four/f")).toBe("x");
    await expect(sandbox.files.rename("no", "where")).rejects.toMatchObject({ name: "FileNotFoundError" });
    await sandbox.files.remove("three");
    await sandbox.files.remove("three");
    expect(await sandbox.files.exists("three")).toBe(false);
  });

  it("is let in by a signed address until that ends", async () => {
    await sandbox.files.write("signed.txt", "seen");
    const down = await sandbox.downloadUrl("signed.txt", { useSignatureExpiration: 60 });
    expect(await (await fetch(down)).text()).toBe("seen");
    const up = await sandbox.uploadUrl("up.txt");
    const form = new FormData();
    form.append("file", new Blob(["sent"]), "up.txt");
    expect((await fetch(up, { method: "POST", body: form })).status).toBe(200);
    expect(await sandbox.files.read("up.txt")).toBe("sent");
    const forged = down.replace(/signature=v1_./, "signature=v1_x");
    expect((await fetch(forged)).status).not.toBe(200);
    await cloud.emulator.clock.advance(61_000);
    expect((await fetch(down)).status).toBe(401);
  });
});

describe("a watched directory of the emulated E2B", () => {
  async function changes(options: { recursive?: boolean; includeEntry?: boolean }, script: string, until: string) {
    const events: FilesystemEvent[] = [];
    await sandbox.commands.run("rm -rf watched; mkdir -p watched/below");
    const handle = await sandbox.files.watchDir("watched", (event) => void events.push(event), options);
    await sandbox.commands.run(script, { cwd: "watched" });
    await expect.poll(() => events.map(({ name }) => name)).toContain(until);
    await handle.stop();
    return events;
  }

  it("tells of what happens in it", async () => {
    const script = "echo x > a; chmod 600 a; mv a b; rm b; echo y > below/deep; touch end";
    const events = (await changes({}, script, "end")).map(({ name, type }) => `${type} ${name}`);
    expect(events).toEqual(
      expect.arrayContaining(["create a", "write a", "chmod a", "rename a", "create b", "remove b", "create end"]),
    );
    expect(events.some((event) => event.includes("deep"))).toBe(false);
  });

  it("tells of what happens below it, with what it found", async () => {
    const script = "mkdir new; sleep 0.2; echo text > new/file; sleep 0.2; touch below/end";
    const events = await changes({ recursive: true, includeEntry: true }, script, "below/end");
    const written = events.filter(({ name, type }) => name === "new/file" && type === "write");
    expect(written[0]?.entry).toMatchObject({ name: "file", type: "file", size: 5 });
  });

  it("must be there", async () => {
    await expect(sandbox.files.watchDir("nowhere", () => {})).rejects.toMatchObject({ name: "FileNotFoundError" });
    await sandbox.files.write("plain", "");
    await expect(sandbox.files.watchDir("plain", () => {})).rejects.toMatchObject({ name: "InvalidArgumentError" });
  });
});
