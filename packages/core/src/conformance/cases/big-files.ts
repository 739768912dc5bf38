import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { equalBytes } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { pattern } from "../material.js";

const pieceBytes = 256 * 1024;

/** Streams `pieces` different pieces and tells their hash. */
function source(pieces: number): { readonly stream: ReadableStream<Uint8Array>; readonly hash: () => string } {
  const base = pattern(pieceBytes);
  const hash = createHash("sha256");
  let sent = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent === pieces) return controller.close();
        const piece = base.slice();
        piece.set(Buffer.from(String(sent)));
        hash.update(piece);
        controller.enqueue(piece);
        sent += 1;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, hash: () => hash.copy().digest("hex") };
}

async function hashOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of stream) hash.update(piece);
  return hash.digest("hex");
}

/** Files larger than a command line, a message, or memory. */
export const bigFileCases: readonly ConformanceCase[] = [
  {
    id: "files.size.120-kb",
    title: "a file larger than one command-line argument is written and read",
    needs: ["files"],
    reports: [
      "cloudflare/sandbox-sdk#104",
      "computesdk/computesdk#783",
      "langchain-ai/deepagents#1402",
      "NousResearch/hermes-agent#22913",
    ],
    async run({ shared, path }) {
      for (const size of [65_535, 65_536, 65_537, 131_073, 400_000]) {
        const bytes = pattern(size, size);
        await shared.files.write(path("file"), bytes);
        equalBytes(await shared.files.read(path("file")), bytes);
      }
    },
  },
  {
    id: "files.size.16-mb",
    title: "16 MB are written and read in one piece",
    needs: ["files"],
    async run({ shared, path }) {
      const bytes = pattern(16 * 1024 * 1024);
      await shared.files.write(path("file"), bytes);
      assert.equal((await shared.files.stat(path("file"))).size, bytes.length);
      equalBytes(await shared.files.read(path("file")), bytes);
    },
  },
  {
    id: "files.stream.64-mb",
    title: "64 MB are streamed in and out",
    needs: ["files", "files.stream"],
    limitMs: 90_000,
    async run({ sandbox }) {
      const own = await sandbox();
      const { stream, hash } = source(256);
      await own.files.write("big", stream);
      assert.equal((await own.files.stat("big")).size, 256 * pieceBytes);
      assert.equal(await hashOf(await own.files.readStream("big")), hash());
    },
  },
  {
    id: "files.stream.range",
    title: "a range of a big file is streamed",
    needs: ["files", "files.stream"],
    async run({ shared, path }) {
      const bytes = pattern(4 * 1024 * 1024);
      await shared.files.write(path("file"), bytes);
      const stream = await shared.files.readStream(path("file"), { offset: 1_000_001, length: 2_000_003 });
      const expected = createHash("sha256").update(bytes.subarray(1_000_001, 3_000_004)).digest("hex");
      assert.equal(await hashOf(stream), expected);
    },
  },
  {
    id: "files.stream.cancel",
    title: "a stream that is cancelled half way leaves the sandbox usable",
    needs: ["files", "files.stream"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), new Uint8Array(8 * 1024 * 1024));
      for (let round = 0; round < 5; round++) {
        const reader = (await shared.files.readStream(path("file"))).getReader();
        assert.equal((await reader.read()).done, false);
        await reader.cancel();
      }
      assert.equal((await shared.files.stat(path("file"))).size, 8 * 1024 * 1024);
    },
  },
];
