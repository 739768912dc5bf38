import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { link, lstat, mkdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentFileInfo, lane, windowBytes } from "../../src/agent/protocol.js";
import { type GuestClient, type GuestStream, type StartedAgent, startAgent, stopAgent } from "./guest-client.js";

const root = mkdtempSync(join(tmpdir(), "sandkit-guest-"));
const at = (name: string) => join(root, name);
let agent: StartedAgent;
let client: GuestClient;
beforeAll(async () => {
  agent = await startAgent();
  client = agent.client;
  await client.hello({ workdir: root });
});
afterAll(async () => {
  await stopAgent(agent);
  expect(agent.stderr()).toBe("");
  await rm(root, { recursive: true, force: true });
});

const read = (path: string, offset = 0, length: number | null = null, grants = true) =>
  client.open({ op: "read", path, offset, length }, grants);

function write(path: string, options: Record<string, unknown> = {}): GuestStream {
  return client.open({ op: "write", path, mode: "truncate", permissions: null, ifModifiedAt: null, ...options });
}

async function put(path: string, text: string | Uint8Array, options: Record<string, unknown> = {}) {
  const stream = write(path, options);
  if (text.length > 0) stream.data(text);
  stream.end(Buffer.from(text).length);
  return stream.reply.promise;
}

async function list(path: string, options: Record<string, unknown> = {}): Promise<AgentFileInfo[]> {
  const stream = client.open({ op: "list", path, recursive: false, maxDepth: null, limit: null, ...options });
  const text = await stream.text();
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const leftovers = (folder: string) => readdirSync(folder).filter((name) => name.startsWith(".sandkit-"));

describe("read", () => {
  it("gives the whole file, a range, and nothing past the end", async () => {
    await writeFile(at("numbers"), "0123456789");
    expect(await read(at("numbers")).text()).toBe("0123456789");
    expect(await read(at("numbers"), 3, 4).text()).toBe("3456");
    expect(await read(at("numbers"), 8, 100).text()).toBe("89");
    expect(await read(at("numbers"), 100).text()).toBe("");
    expect(await read(at("numbers"), 2 ** 52, 5).text()).toBe("");
    expect(await read(at("numbers"), 0, 0).text()).toBe("");
    expect(await read("/proc/self/cmdline").text()).toContain("python");
  });

  it("holds a file that is not taken at its credit, and lets it go when it is cancelled", async () => {
    await writeFile(at("large"), Buffer.alloc(3_000_000));
    const stream = read(at("large"), 0, null, false);
    await stream.reply.promise;
    await sleep(100);
    expect(stream.bytes().length).toBe(windowBytes);
    stream.cancel(lane.out);
    expect(await stream.ends.get(lane.out)?.promise).toBe(windowBytes);
    expect((await read(at("large")).all()).length).toBe(3_000_000);
  });

  it("refuses directories, pipes and devices at once", async () => {
    execFileSync("mkfifo", [at("fifo")]);
    expect((await read(root).reply.promise).error?.errno).toBe("EISDIR");
    expect((await read(at("fifo")).reply.promise).error?.errno).toBe("EINVAL");
    expect((await read("/dev/zero").reply.promise).error?.errno).toBe("EINVAL");
    expect((await read(at("nothing")).reply.promise).error?.errno).toBe("ENOENT");
    expect((await read(`${at("numbers")}/x`).reply.promise).error?.errno).toBe("ENOTDIR");
  });

  it("refuses text that is no path", async () => {
    for (const [path, errno] of [
      ["relative", "EINVAL"],
      ["/nul\0", "EINVAL"],
      ["/\ud800", "EILSEQ"],
      ["/\udcff", "EILSEQ"],
      [7, "EINVAL"],
    ])
      expect((await client.ask({ op: "stat", path, followSymlinks: true } as { op: string })).error?.errno).toBe(errno);
  });
});

describe("write", () => {
  it("makes parents, mode 644, and says how many bytes", async () => {
    expect(await put(at("a/b/c"), "text")).toEqual({ ok: { bytes: 4 } });
    expect(readFileSync(at("a/b/c"), "utf8")).toBe("text");
    expect(statSync(at("a/b/c")).mode & 0o7777).toBe(0o644);
    expect(await put(at("a/run"), "x", { permissions: 0o755 })).toEqual({ ok: { bytes: 1 } });
    expect(statSync(at("a/run")).mode & 0o7777).toBe(0o755);
    await put(at("a/run"), "");
    expect(statSync(at("a/run"))).toMatchObject({ size: 0 });
    expect(statSync(at("a/run")).mode & 0o7777).toBe(0o755);
    expect((await put(at("a/run/below"), "x")).error?.errno).toBe("ENOTDIR");
    expect((await put(at("a"), "x")).error?.errno).toBe("EISDIR");
    expect((await put(at("fifo"), "x")).error?.errno).toBe("EINVAL");
  });

  it("shows nobody half of a file, and leaves nothing when it is given up", async () => {
    await writeFile(at("kept"), "old");
    const stream = write(at("kept"));
    stream.data("half");
    await sleep(50);
    expect(readFileSync(at("kept"), "utf8")).toBe("old");
    stream.cancel(lane.in);
    expect((await stream.reply.promise).error?.errno).toBe("ECANCELED");
    expect(readFileSync(at("kept"), "utf8")).toBe("old");
    expect(leftovers(root)).toEqual([]);
  });

  it("follows links, also to what is not there yet; exclusive does not", async () => {
    await mkdir(at("links/target"), { recursive: true });
    await symlink("target/file", at("links/dangling"));
    await put(at("links/dangling"), "through");
    expect(readFileSync(at("links/target/file"), "utf8")).toBe("through");
    expect(await readlink(at("links/dangling"))).toBe("target/file");
    await symlink("nowhere", at("links/nowhere"));
    expect((await put(at("links/nowhere"), "x", { mode: "exclusive" })).error?.errno).toBe("EEXIST");
    await symlink("loop", at("links/loop"));
    expect((await put(at("links/loop"), "x")).error?.errno).toBe("ELOOP");
  });

  it("is exclusive to one of many", async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(at("only"), `${index}`, { mode: "exclusive" })),
    );
    expect(replies.filter((reply) => reply.ok)).toHaveLength(1);
    expect(replies.filter((reply) => reply.error?.errno === "EEXIST")).toHaveLength(19);
    expect(leftovers(root)).toEqual([]);
  });

  it("appends in place", async () => {
    await put(at("log"), "one ", { mode: "append" });
    await link(at("log"), at("log-too"));
    await put(at("log"), "two", { mode: "append" });
    expect(readFileSync(at("log-too"), "utf8")).toBe("one two");
  });

  it("is refused early and late when the file is another than was read", async () => {
    await put(at("edited"), "one");
    const first = Math.floor(statSync(at("edited"), { bigint: false }).mtimeMs);
    expect(await put(at("edited"), "two", { ifModifiedAt: first })).toEqual({ ok: { bytes: 3 } });
    expect((await put(at("edited"), "three", { ifModifiedAt: first })).error?.errno).toBe("ESTALE");
    const second = Math.floor(statSync(at("edited")).mtimeMs);
    expect(second).toBeGreaterThan(first);
    const late = write(at("edited"), { ifModifiedAt: second });
    late.data("late");
    await sleep(20);
    writeFileSync(at("edited"), "meanwhile");
    utimesSync(at("edited"), 1, 1);
    late.end(4);
    expect((await late.reply.promise).error?.errno).toBe("ESTALE");
    expect(readFileSync(at("edited"), "utf8")).toBe("meanwhile");
    expect(leftovers(root)).toEqual([]);
  });

  it("refuses its lane with an early error, and takes what was under way for nothing", async () => {
    const stream = write(root);
    for (let index = 0; index < 3; index++) stream.data(Buffer.alloc(64 * 1024));
    expect((await stream.reply.promise).error?.errno).toBe("EISDIR");
    await client.ask({ op: "info" });
    expect(stream.refused.has(lane.in)).toBe(true);
  });
});

describe("list", () => {
  it("sorts by code units, with a directory's content where its name and a slash sort", async () => {
    const names = ["a", "a.txt", "a/b", "a0", "é", "\u{1f600}", "\uff5e", " ", "-", "new\nline", "'\"", "a/deep/er"];
    for (const name of names) await mkdir(at(`sorted/${name}`), { recursive: true });
    const found = (await list(at("sorted"), { recursive: true })).map(({ path }) => path);
    expect(found).toHaveLength(13);
    expect(found).toEqual([...found].sort((a, b) => (a < b ? -1 : 1)));
    expect((await list(at("sorted"), { recursive: true, maxDepth: 2 })).length).toBe(12);
    expect((await list(at("sorted"), { recursive: true, limit: 5 })).map(({ path }) => path)).toEqual(
      found.slice(0, 5),
    );
    expect(await list(at("sorted"), { limit: 0 })).toEqual([]);
    expect((await list(at("sorted"))).length).toBe(10);
  });

  it("tells types, times and names that no text can hold, and enters no link", async () => {
    await mkdir(at("odd"));
    await symlink("..", at("odd/up"));
    execFileSync("mkfifo", [at("odd/pipe")]);
    await writeFile(Buffer.concat([Buffer.from(at("odd/")), Buffer.from([0x66, 0xff, 0x6f])]), "");
    execFileSync("touch", ["-d", "@-2000000.5", at("odd/ancient")]);
    const found = await list(at("odd"), { recursive: true });
    expect(found.map(({ path, type, symlinkTarget }) => [path.slice(at("odd/").length), type, symlinkTarget])).toEqual([
      ["ancient", "file", undefined],
      ["f\ufffdo", "file", undefined],
      ["pipe", "other", undefined],
      ["up", "symlink", ".."],
    ]);
    expect(found[0]?.modifiedAt).toBe(-2_000_000_500);
  });

  it("answers with why it cannot", async () => {
    const errors = async (path: string) =>
      (await client.open({ op: "list", path, recursive: false, maxDepth: null, limit: null }).reply.promise).error
        ?.errno;
    expect(await errors(at("nothing"))).toBe("ENOENT");
    expect(await errors(at("numbers"))).toBe("ENOTDIR");
  });
});

describe("mkdir, move, remove, symlink, stat", () => {
  it("mkdir is content with a directory, not with a file", async () => {
    expect((await client.ask({ op: "mkdir", path: at("new/deep/er") })).ok).toEqual({});
    expect((await client.ask({ op: "mkdir", path: at("new/deep/er") })).ok).toEqual({});
    expect((await client.ask({ op: "mkdir", path: at("numbers") })).error?.errno).toBe("EEXIST");
    expect((await client.ask({ op: "mkdir", path: at("numbers/x") })).error?.errno).toBe("ENOTDIR");
    expect((await client.ask({ op: "mkdir", path: "/" })).ok).toEqual({});
  });

  it("move makes the parents of where to, and says which path is at fault", async () => {
    await writeFile(at("from"), "moved");
    expect((await client.ask({ op: "move", from: at("from"), to: at("moved/here/to") })).ok).toEqual({});
    const gone = await client.ask({ op: "move", from: at("from"), to: at("not-made/to") });
    expect(gone.error).toMatchObject({ errno: "ENOENT", path: at("from") });
    expect(readdirSync(root)).not.toContain("not-made");
    const onto = await client.ask({ op: "move", from: at("numbers"), to: at("moved") });
    expect(onto.error).toMatchObject({ errno: "EISDIR", path: at("moved") });
  });

  it("remove never follows a link, and takes trees of any depth", async () => {
    await mkdir(at("precious/inner"), { recursive: true });
    await mkdir(at("doomed"));
    await symlink("../precious", at("doomed/link"));
    expect((await client.ask({ op: "remove", path: at("doomed"), recursive: false })).error?.errno).toBe("EISDIR");
    execFileSync("python3", ["-c", "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"], {
      cwd: at("doomed"),
    });
    expect((await client.ask({ op: "remove", path: at("doomed"), recursive: true })).ok).toEqual({ removed: true });
    expect((await client.ask({ op: "remove", path: at("doomed"), recursive: true })).ok).toEqual({ removed: false });
    expect((await lstat(at("precious/inner"))).isDirectory()).toBe(true);
    await symlink("precious", at("to-precious"));
    expect((await client.ask({ op: "remove", path: at("to-precious"), recursive: true })).ok).toEqual({
      removed: true,
    });
    expect((await lstat(at("precious/inner"))).isDirectory()).toBe(true);
  });

  it("symlink and stat tell links from what they lead to", async () => {
    expect((await client.ask({ op: "symlink", target: "../numbers", path: at("into/link") })).ok).toEqual({});
    const found = await client.ask({ op: "stat", path: at("into/link"), followSymlinks: true });
    expect(found.ok).toMatchObject({ type: "file", size: 10, path: at("into/link") });
    const itself = await client.ask({ op: "stat", path: at("into/link"), followSymlinks: false });
    expect(itself.ok).toMatchObject({ type: "symlink", symlinkTarget: "../numbers" });
  });
});

it("other work goes on while a large tree is listed and removed and a large file is read", {
  timeout: 120_000,
}, async () => {
  execFileSync("python3", [
    "-c",
    "import os,sys\nfor d in range(5):\n os.makedirs(f'{sys.argv[1]}/{d}')\n for f in range(1000): os.open(f'{sys.argv[1]}/{d}/{f}', os.O_CREAT); os.closerange(3, 64)",
    at("many"),
  ]);
  await writeFile(at("huge"), Buffer.alloc(40 * 1024 * 1024));
  let working = true;
  const waits: number[] = [];
  const others = (async () => {
    while (working) {
      const start = performance.now();
      const run = client.spawn(["true"]);
      await run.gone.promise;
      waits.push(performance.now() - start);
    }
  })();
  expect((await list(at("many"), { recursive: true })).length).toBe(5_005);
  const stream = read(at("huge"));
  await stream.ends.get(lane.out)?.promise;
  expect(stream.bytes().length).toBe(40 * 1024 * 1024);
  expect((await client.ask({ op: "remove", path: at("many"), recursive: true })).ok).toEqual({ removed: true });
  working = false;
  await others;
  waits.sort((a, b) => a - b);
  expect(waits.length).toBeGreaterThan(5);
  expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(1000);
});

describe("a program that changes what is listed", () => {
  it("while it is looked at: links and files in turn", async () => {
    await mkdir(at("busy"));
    const names = Array.from({ length: 50 }, (_, number) => `entry${number}`);
    for (const name of names) await writeFile(at(`busy/${name}`), "");
    const changing = `
import os, sys
os.chdir(sys.argv[1])
while True:
    for name in sys.argv[2:]:
        os.symlink("nowhere", "../fresh")
        os.rename("../fresh", name)
        open("../fresh", "w").close()
        os.rename("../fresh", name)
`;
    const program = client.spawn(["python3", "-c", changing, at("busy"), ...names]);
    for (let round = 0; round < 100; round++) {
      const listed = await list(at("busy"));
      expect(listed.filter(({ type }) => type !== "file" && type !== "symlink")).toEqual([]);
    }
    await client.kill(program);
  });
});
