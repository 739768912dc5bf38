import { readdir } from "node:fs/promises";
import { AgentFailure, describeFailure } from "./failure.mjs";
import { fileInfo, lookAt } from "./files.mjs";
import { laneNumber } from "./frames.mjs";

const recordBytes = 64 * 1024;

/** Opens the directory; what it gives sends the records. */
export async function listFiles({ path, recursive, maxDepth, limit }, stream) {
  const folder = Buffer.from(path);
  const entries = await readdir(folder, { encoding: "buffer", withFileTypes: true });
  const lane = stream.outgoing.get(laneNumber.out);
  return async () => {
    let text = "";
    let left = limit ?? Infinity;
    const depth = recursive ? (maxDepth ?? Infinity) : 1;
    try {
      if (left > 0) {
        for await (const [found, name] of walk(folder, path, entries, depth)) {
          const record = await unlessGone(name, async () => fileInfo(found, name, await lookAt(found)));
          if (record) text += `${JSON.stringify(record)}\n`;
          if (text.length > recordBytes) {
            await lane.sendAll(Buffer.from(text));
            text = "";
          }
          left -= 1;
          if (left === 0 || lane.cancelled) break;
        }
      }
    } catch (error) {
      text += `${JSON.stringify({ error: describeFailure(error) })}\n`;
    }
    await lane.sendAll(Buffer.from(text));
    lane.end();
  };
}

/** Undefined for what was removed or replaced between being seen and being looked at; another failure says its name. */
async function unlessGone(name, step) {
  try {
    return await step();
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new AgentFailure(describeFailure(error).errno, error.message, name);
  }
}

/**
 * Yields paths as bytes and as text, in order. The content of a directory comes where `name/` sorts, which is not
 * right after `name`: `a`, `a.txt`, `a/b`.
 */
async function* walk(folder, shown, entries, depth) {
  const steps = entries.flatMap((entry) => {
    const name = entry.name.toString();
    const step = { name, bytes: entry.name, inside: false };
    return depth > 1 && entry.isDirectory() ? [step, { name: `${name}/`, bytes: entry.name, inside: true }] : [step];
  });
  steps.sort((a, b) => (a.name < b.name ? -1 : 1));
  const root = shown === "/";
  for (const { name: ending, bytes, inside } of steps) {
    const path = Buffer.concat([root ? Buffer.alloc(0) : folder, Buffer.from("/"), bytes]);
    const text = `${root ? "" : shown}/${ending}`;
    if (!inside) {
      yield [path, text];
      continue;
    }
    const name = text.slice(0, -1);
    const content = await unlessGone(name, () => readdir(path, { encoding: "buffer", withFileTypes: true }));
    if (content) yield* walk(path, name, content, depth - 1);
  }
}
