import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { DaytonaConflictError, DaytonaFileNotFoundError, type Sandbox } from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;

beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
});
afterAll(() => cloud[Symbol.asyncDispose]());

const names = ["plain", "with space", "quote'\"s", "日本語", "emoji 🤣", "new\nline", "-dash", "$HOME;`id`"];

describe("files", () => {
  it("go up and down under any name", async () => {
    const files = names.map((name) => ({ source: Buffer.from(`in ${name}`), destination: `names/${name}` }));
    await sandbox.fs.uploadFiles(files);
    const listed = await sandbox.fs.listFiles("names");
    expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const name of names) {
      expect((await sandbox.fs.downloadFile(`names/${name}`)).toString()).toBe(`in ${name}`);
    }
  });

  it("carry 30 MB each way, whole and as streams", { timeout: 60_000 }, async () => {
    const data = randomBytes(30 * 1024 * 1024);
    await sandbox.fs.uploadFile(data, "whole.bin");
    expect(hash(await sandbox.fs.downloadFile("whole.bin"))).toBe(hash(data));
    await sandbox.fs.uploadFileStream(Readable.from([data.subarray(0, 1_000_000), data.subarray(1_000_000)]), "s.bin");
    const chunks: Buffer[] = [];
    for await (const chunk of await sandbox.fs.downloadFileStream("s.bin")) chunks.push(chunk as Buffer);
    expect(hash(Buffer.concat(chunks))).toBe(hash(data));
  });

  it("are described: kind, size, permissions, owner, time", async () => {
    await sandbox.fs.uploadFile(Buffer.from("12345"), "described");
    await sandbox.fs.setFilePermissions("described", { mode: "640" });
    const info = await sandbox.fs.getFileDetails("described");
    const { result } = await sandbox.process.executeCommand("id -un; id -gn");
    const [owner, group] = result.split("\n");
    expect(info).toMatchObject({ name: "described", isDir: false, size: 5, mode: "-rw-r-----", permissions: "0640" });
    expect(info).toMatchObject({ owner, group });
    expect(Math.abs(Date.now() - Date.parse(info.modifiedAt))).toBeLessThan(60_000);
  });

  it("live in folders, which are made, listed to a depth, and deleted", async () => {
    await sandbox.fs.createFolder("a/b/c", "700");
    await sandbox.fs.uploadFile(Buffer.from("x"), "a/b/c/x");
    expect((await sandbox.fs.getFileDetails("a/b/c")).mode).toBe("drwx------");
    const paths = (await sandbox.fs.listFiles("a", { depth: 2 })).map(({ path }) =>
      path?.split("/").slice(-2).join("/"),
    );
    expect(paths).toEqual(["a/b", "b/c"]);
    await expect(sandbox.fs.deleteFile("a")).rejects.toMatchObject({ statusCode: 400 });
    await sandbox.fs.deleteFile("a", true);
    await expect(sandbox.fs.listFiles("a")).rejects.toThrow(DaytonaFileNotFoundError);
  });

  it("are moved, but never over another", async () => {
    await sandbox.fs.uploadFile(Buffer.from("1"), "from");
    await sandbox.fs.uploadFile(Buffer.from("2"), "taken");
    await expect(sandbox.fs.moveFiles("from", "taken")).rejects.toThrow(DaytonaConflictError);
    await sandbox.fs.moveFiles("from", "to");
    expect((await sandbox.fs.downloadFile("to")).toString()).toBe("1");
    await expect(sandbox.fs.getFileDetails("from")).rejects.toThrow(DaytonaFileNotFoundError);
  });

  it("are searched by name and by content, and have texts replaced", async () => {
    await sandbox.fs.uploadFile(Buffer.from("one\ntwo words\n"), "search/a.txt");
    await sandbox.fs.uploadFile(Buffer.from("two\0"), "search/binary.txt");
    const { files } = await sandbox.fs.searchFiles("search", "*.txt");
    expect(files.map((file) => file.split("/").at(-1)).sort()).toEqual(["a.txt", "binary.txt"]);
    const found = await sandbox.fs.findFiles("search", "two");
    expect(found).toMatchObject([{ line: 2, content: "two words" }]);
    const results = await sandbox.fs.replaceInFiles(["search/a.txt", "search/none"], "two", "$&2");
    expect(results).toMatchObject([{ success: true }, { success: false }]);
    expect((await sandbox.fs.downloadFile("search/a.txt")).toString()).toBe("one\n$&2 words\n");
  });

  it("that are missing are told one by one", async () => {
    await sandbox.fs.uploadFile(Buffer.from("here"), "here");
    const [here, gone] = await sandbox.fs.downloadFiles([{ source: "here" }, { source: "gone" }]);
    expect(String(here?.result)).toBe("here");
    expect(gone?.errorDetails).toMatchObject({ statusCode: 404, code: "FILE_NOT_FOUND", source: "DAYTONA_DAEMON" });
    await expect(sandbox.fs.downloadFile("gone")).rejects.toThrow(DaytonaFileNotFoundError);
  });

  it("are reached by signed URLs, until the key is rotated", async () => {
    await sandbox.fs.uploadFile(Buffer.from("signed"), "signed");
    const url = await sandbox.downloadUrl("signed");
    expect(await (await fetch(url)).text()).toBe("signed");
    expect((await fetch(url.replace("path=signed", "path=other"))).status).toBe(401);
    const form = new FormData();
    form.append("file", new Blob(["up"]), "up");
    const upload = await fetch(await sandbox.uploadUrl("up"), { method: "POST", body: form });
    expect(upload.status).toBe(200);
    expect((await sandbox.fs.downloadFile("up")).toString()).toBe("up");
    await sandbox.rotateSigningKey();
    expect((await fetch(url)).status).toBe(401);
  });
});

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
