import { randomUUID } from "node:crypto";
import { SandboxError } from "../errors.js";
import type { ProviderFiles } from "../provider.js";
import { fileError } from "./file-errors.js";
import { parseListing, parseRecord } from "./file-records.js";
import { maxStdoutBytes, runGuest } from "./guest-run.js";
import type { PlainPlace } from "./plain-place.js";
import { readFile } from "./read-file.js";
import { writeFile } from "./write-file.js";

/** How deep a listing without a limit goes: deeper than a path can be. */
const anyDepth = 4096;

/** The files of a box, by the tools that every image with a shell has: one program for each operation. */
export function plainFiles(place: PlainPlace): ProviderFiles {
  const run = async (operation: string, path: string, args: readonly string[]) => {
    const tooMuch = () => {
      const message = `${operation} ${JSON.stringify(path)}: more than ${maxStdoutBytes} bytes: list a smaller part`;
      return new SandboxError("TOO_LARGE", message, {
        provider: place.provider,
        sandboxId: place.sandboxId,
        operation,
      });
    };
    const { stdout, stderr } = await runGuest(place, "files", args, undefined, tooMuch);
    const word = stderr.split("\n")[0] ?? "";
    if (word !== "ok") throw fileError(word.replace(/^fail /, ""), operation, path, place);
    return stdout;
  };
  return {
    read: (path, options = {}) => readFile(place, path, options),

    write: (path, data, options) => writeFile(place, path, data, options),

    async list(path, { recursive = false, maxDepth = anyDepth, limit } = {}) {
      const separator = randomUUID();
      const depth = recursive ? maxDepth : 1;
      const output = await run("files.list", path, ["list_directory", path, `${depth}`, separator]);
      return parseListing(output, separator).slice(0, limit);
    },

    async stat(path, { followSymlinks }) {
      const output = await run("files.stat", path, ["stat_path", path, followSymlinks ? "follow" : ""]);
      const end = output.indexOf("\n");
      const record = parseRecord(path, output.subarray(0, end).toString("utf8"));
      if (record.type !== "symlink") return record;
      return { ...record, symlinkTarget: output.subarray(end + 1).toString("utf8") };
    },

    async mkdir(path) {
      await run("files.mkdir", path, ["make_directory", path]);
    },

    async move(from, to) {
      await run("files.move", from, ["move_path", from, to]);
    },

    async remove(path, { recursive }) {
      const output = await run("files.remove", path, ["remove_path", path, recursive ? "recursive" : ""]);
      return output.toString("utf8").trim() === "true";
    },

    async symlink(target, path) {
      await run("files.symlink", path, ["make_link", target, path]);
    },
  };
}
