import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, providerOptions, quietOption } from "../shared-options.js";

/** Copies files between this machine and a living sandbox. */
export const cpCommand: CommandSpec = {
  name: "cp",
  summary: "Copy files and folders into a living sandbox, or out of one",
  usage: ["sandkit cp [OPTIONS] PATH REF:PATH", "sandkit cp [OPTIONS] REF:PATH PATH"],
  notes: [
    "Folders go whole, with permissions and links. A folder that is there already is copied into, under the name of the",
    "source; PATH/. copies what is in it. A path in a sandbox that is not absolute begins in its own directory.",
    "- is stdin or stdout. Out of a sandbox nothing is written outside the named place: links that lead outside are left",
    "out, and told. A path here that has a colon before any slash is written with ./ in front.",
  ],
  maxPositionals: 2,
  takesRest: false,
  options: { ...jsonOption, ...quietOption, ...providerOptions },
  examples: [
    { command: "sandkit cp report.csv work:", shows: "into the sandbox's own directory" },
    { command: "sandkit cp work:out ./results", shows: "a folder, out of it" },
    { command: "tar c src | sandkit cp - work:/tmp/src.tar", shows: "what comes by stdin" },
  ],
  exitCodes: {
    0: "copied",
    1: "some of it was left out, or the sandbox does not exist",
    2: "wrong usage, or there is no such file",
    3: exitCodes[3],
    4: exitCodes[4],
    130: exitCodes[130],
  },
  run: async (invocation) => (await import("../live/copy/copy-files.js")).copyFiles(invocation),
};
