// Moves many bytes in one way and prints what that took, as JSON: stream.mjs WHO WAY BYTES IMAGE RUN.
import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { rivalCommand, startRival } from "../rival.mjs";

const [who = "", way = "", size = "", image = "", run = ""] = process.argv.slice(2);
const bytes = Number(size);
const resources = { memoryMiB: 8192, diskMiB: 4096 };

/** As many zeros, in pieces that a file would come in. */
function zeros() {
  const piece = new Uint8Array(64 * 1024);
  let left = bytes;
  return new ReadableStream(
    {
      pull(controller) {
        if (left > 0) controller.enqueue(piece.subarray(0, Math.min(left, piece.length)));
        left -= piece.length;
        if (left <= 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * @param {unknown} found
 * @param {string} what
 */
function expectAll(found, what) {
  if (found !== bytes) throw new Error(`${who} ${what}: ${found} bytes of ${bytes}`);
}

async function ours() {
  const sandbox = await createSandbox(docker({ images: { python: image } }), { resources, labels: { bench: run } });
  const warmUp = await sandbox.exec(["true"]);
  if (!warmUp.ok) throw new Error("the sandbox does not work");
  /** @type {Record<string, () => Promise<void>>} */
  const ways = {
    stdout: async () => {
      let seen = 0;
      const { stdout } = await sandbox.exec(["head", "-c", size, "/dev/zero"], {
        onOutput: (chunk) => {
          seen += chunk.bytes.length;
        },
      });
      expectAll(seen, "stdout seen");
      expectAll(stdout.totalBytes, "stdout counted");
    },
    stdin: async () => {
      const { stdout } = await sandbox.exec(["wc", "-c"], { stdin: zeros() });
      expectAll(Number(stdout.text), "stdin");
    },
    write: async () => {
      await sandbox.files.write("big", zeros());
      expectAll((await sandbox.files.stat("big")).size, "file written");
    },
    read: async () => {
      await sandbox.exec(["truncate", "-s", size, "big"]);
      let seen = 0;
      for await (const chunk of await sandbox.files.readStream("big")) seen += chunk.length;
      expectAll(seen, "file read");
    },
  };
  return { work: ways[way], end: () => sandbox.destroy() };
}

async function rivals() {
  const sandbox = await startRival(image);
  const work = async () => {
    let seen = 0;
    await rivalCommand(sandbox, "head", ["-c", size, "/dev/zero"], {
      onStdout: (/** @type {string} */ chunk) => {
        seen += chunk.length;
      },
    });
    expectAll(seen, "stdout seen");
  };
  return { work, end: () => sandbox._destroy() };
}

const { work, end } = who === "rival" ? await rivals() : await ours();
try {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const start = performance.now();
  await work?.();
  const ms = performance.now() - start;
  clearInterval(watch);
  console.log(JSON.stringify({ ms, growth: Math.max(peak, process.memoryUsage.rss()) - before }));
} finally {
  await end();
}
