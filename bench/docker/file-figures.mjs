import { buffer } from "node:stream/consumers";
import { packTar } from "modern-tar";
import { median } from "../statistics.mjs";
import { timed } from "../timed.mjs";

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * A file of one size each way. Raw: the archive API, on a container with a writable root, for a read-only one has no
 * way at all. @mastra/docker has no files.
 * @param {Places} places
 * @param {{ name: string, bytes: number, rounds: number, target?: number }} size
 */
export async function fileFigures({ archives, sandbox }, { name, bytes, rounds, target }) {
  const content = Buffer.alloc(bytes, "0123456789abcdef");
  /** @type {Record<"put" | "get" | "write" | "read", number[]>} */
  const times = { put: [], get: [], write: [], read: [] };
  for (let round = 0; round < rounds; round++) {
    times.put.push(
      await timed(async () => {
        const tar = await packTar([{ header: { name: "file", size: bytes }, body: content }]);
        await archives.putArchive(Buffer.from(tar), { path: "/home" });
      }),
    );
    times.write.push(await timed(() => sandbox.files.write("file", content)));
    times.get.push(
      await timed(async () => {
        const tar = await buffer(await archives.getArchive({ path: "/home/file" }));
        if (!tar.subarray(512, 512 + bytes).equals(content)) throw new Error("docker cp gave other bytes");
      }),
    );
    times.read.push(
      await timed(async () => {
        if (!content.equals(await sandbox.files.read("file"))) throw new Error("the file has other bytes");
      }),
    );
  }
  const row = (/** @type {string} */ way, /** @type {number[]} */ raw, /** @type {number[]} */ ours) => ({
    id: `file.${way}.${bytes}`,
    what: `a file of ${name}, ${way}`,
    unit: /** @type {const} */ ("ms"),
    raw: median(raw),
    sandkit: median(ours),
    ...(target !== undefined && { target }),
  });
  return [row("write", times.put, times.write), row("read", times.get, times.read)];
}
