import { posix } from "node:path";
import { brief } from "./brief.js";
import { PipUsageError } from "./pip-arguments.js";

/** What one command may ask for. Guests choose the arguments and write the files: both are bounded before they are read. */
const [mostFiles, mostRequirements] = [10, 200];
/** Of one requirement with its conditions, in characters. */
const longestLine = 10_000;

/** The requirements of a command line: its own words, and those of files. @throws PipUsageError */
export async function collectRequirements(
  words: readonly string[],
  files: readonly string[],
  readText: (path: string) => Promise<string>,
): Promise<string[]> {
  const found: string[] = [];
  const add = (text: string) => {
    checkName(text);
    if (found.length >= mostRequirements) throw new PipUsageError(`more than ${mostRequirements} requirements`);
    found.push(text);
  };
  words.forEach(add);
  const seen = new Set(files);
  for (const file of seen) {
    // What is added to a set while it is walked is walked too.
    if (seen.size > mostFiles) throw new PipUsageError(`more than ${mostFiles} files of requirements`);
    for (const line of linesOf(await readText(file))) {
      if (line.length > longestLine)
        throw new PipUsageError(`${file}: ${brief(line)}: a line is longer than ${longestLine} characters`);
      const nested = nestedFile(line);
      if (nested !== "") seen.add(nested.startsWith("/") ? nested : posix.join(posix.dirname(file), nested));
      else if (/^-|\s--?[a-z]/.test(line)) throw new PipUsageError(`${file}: ${brief(line)}: no options but -r here`);
      else add(line);
      if (seen.size > mostFiles) break;
    }
  }
  return found;
}

function linesOf(text: string): string[] {
  const lines = text
    .replace(/^\ufeff/, "")
    .replace(/\\\r?\n/g, "")
    .split(/\r?\n/);
  return lines.map((line) => withoutComment(line).trim()).filter((line) => line !== "");
}

/** Searched and cut, as an expression for the whole would try each `#` anew. */
function withoutComment(line: string): string {
  const start = line.search(/(?:^|\s)#/);
  return start < 0 ? line : line.slice(0, start);
}

/** The file that a line names in place of a requirement; empty where it names none. */
function nestedFile(line: string): string {
  const [option = ""] = /^(?:-r|--requirement)[\s=]*/.exec(line) ?? [];
  return option === "" ? "" : line.slice(option.length);
}

/** Packages have names; what people give in their place is a file, a directory or an address. */
function checkName(text: string): void {
  if (/^[./~]|:\/\/|^[a-z]+\+|\.(?:whl|zip|tar\.(?:gz|bz2)|tgz)$/i.test(text)) {
    throw new PipUsageError(`${brief(text)}: packages come by name here, not from files or addresses`);
  }
}
