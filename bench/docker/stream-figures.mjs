import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("programs/stream.mjs", import.meta.url));
const ways = { stdout: "out of a program", stdin: "into a program", write: "into a file", read: "out of a file" };

/**
 * Many bytes each way, each in a program of its own, whose memory is watched.
 * @param {string} image
 * @param {number} mebibytes
 * @param {(way: string) => void} progress
 */
export async function streamFigures(image, mebibytes, progress) {
  const amount = mebibytes >= 1024 ? `${mebibytes / 1024} GiB` : `${mebibytes} MiB`;
  const rows = [];
  for (const [way, words] of Object.entries(ways)) {
    progress(`${amount} ${words}`);
    const ours = await move("sandkit", way, mebibytes, image);
    if (typeof ours === "string") throw new Error(`moving ${amount} ${words}: ${ours}`);
    // The others have no other way for so many bytes.
    const rival = way === "stdout" ? await move("rival", way, mebibytes, image) : undefined;
    const crashed = typeof rival === "string";
    if (crashed) progress(`@mastra/docker crashes: ${rival}`);
    const what = `${amount} ${words}`;
    rows.push({
      id: `stream.${way}.ms`,
      what,
      unit: /** @type {const} */ ("ms"),
      rival: crashed ? "crashes" : rival?.ms,
      sandkit: ours.ms,
    });
    rows.push({
      id: `stream.${way}.memory`,
      what: "  memory that the client grows by",
      unit: /** @type {const} */ ("MiB"),
      rival: crashed ? "crashes" : rival && rival.growth / 2 ** 20,
      sandkit: ours.growth / 2 ** 20,
      target: 64,
    });
  }
  return rows;
}

/**
 * @param {string} who
 * @param {string} way
 * @param {number} mebibytes
 * @param {string} image
 * @returns {Promise<{ ms: number, growth: number } | string>} A string: how it failed.
 */
async function move(who, way, mebibytes, image) {
  const args = [program, who, way, String(mebibytes * 2 ** 20), image, String(process.pid)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [output, talk, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return code === 0 ? JSON.parse(output) : (/^\w*Error.*$/m.exec(talk)?.[0] ?? `exit code ${code}`);
}
