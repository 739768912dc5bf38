import type { StageFile } from "../staged-file.js";
import { runGuest } from "./guest-run.js";
import type { PlainPlace } from "./plain-place.js";
import { argumentsOf, requireOk, temporaryName } from "./write-file.js";

/** Has a program inside make a file beside its place, and another put it there. */
export function plainStage(place: PlainPlace): StageFile {
  return async (path, options) => {
    options.signal?.throwIfAborted();
    const temporary = temporaryName();
    const args = argumentsOf(path, options, temporary);
    const run = async (...command: readonly string[]) => {
      const { stdout, stderr } = await runGuest(place, "files", command);
      requireOk(stderr, path, place);
      return stdout;
    };
    const beside = await run("stage_file", ...args);
    const text = beside.toString("utf8");
    const discard = async () => {
      await run("discard_file", path, options.mode, temporary);
    };
    if (!Buffer.from(text).equals(beside)) {
      await discard();
      return undefined;
    }
    return {
      path: text,
      commit: async (bytes) => {
        await run("commit_file", ...args, `${bytes}`);
      },
      discard,
    };
  };
}
