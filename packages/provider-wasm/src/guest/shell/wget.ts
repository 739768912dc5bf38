import type { Command } from "just-bash";
import { curl } from "./curl.js";

const usage =
  "usage: wget [-q] [-nv] [-O FILE] [-P DIRECTORY] [-T SECONDS] [-t TRIES] [-U AGENT] [--header=TEXT] [--post-data=TEXT] URL...";
const harmless = new Set([
  "-q",
  "--quiet",
  "-nv",
  "--no-verbose",
  "-S",
  "--no-check-hsts",
  "--show-progress",
  "-nc",
  "-c",
]);
const withValue: Readonly<Record<string, string>> = {
  "-T": "--max-time",
  "--timeout": "--max-time",
  "-t": "--retry",
  "--tries": "--retry",
  "-U": "-A",
  "--user-agent": "-A",
  "--header": "-H",
  "--post-data": "--data-raw",
};
/** Where curl tells an answer of 400 and above, and where it fails before there is one. */
const exitCodes: Readonly<Record<number, number>> = {
  0: 0,
  2: 2,
  6: 4,
  7: 4,
  22: 8,
  28: 4,
  35: 5,
  56: 4,
  60: 5,
  23: 3,
};

/** `wget` for files: what it does is done by {@link curl}. */
export const wget: Command["execute"] = async (args, context) => {
  const refusal = (what: string) => ({ stdout: "", stderr: `wget: ${what}\n${usage}\n`, exitCode: 2 });
  const [passed, urls]: [string[], string[]] = [[], []];
  let [output, directory, isQuiet]: [string | undefined, string, boolean] = [undefined, ".", false];
  // `-qO-` is `-q` and `-O-`.
  const rest = args.flatMap((arg) => (/^-q[A-Za-z]/.test(arg) ? ["-q", `-${arg.slice(2)}`] : [arg]));
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [name = "", given] = arg.startsWith("--") ? arg.split(/=(.*)/s) : splitLetter(arg);
    const value = () => given ?? rest.shift() ?? "";
    if (!arg.startsWith("-")) urls.push(arg);
    else if (harmless.has(arg)) isQuiet ||= arg === "-q" || arg === "--quiet";
    else if (name === "-O" || name === "--output-document") output = value();
    else if (name === "-P" || name === "--directory-prefix") directory = value();
    else if (Object.hasOwn(withValue, name)) passed.push(withValue[name] ?? "", value());
    else return refusal(`${arg}: is unknown, or not available in this sandbox`);
  }
  if (urls.length === 0) return refusal("missing URL");
  if (directory !== ".") await context.fs.mkdir(context.fs.resolvePath(context.cwd, directory), { recursive: true });
  let exitCode = 0;
  const [stdout, stderr]: [string[], string[]] = [[], []];
  for (const url of urls) {
    const path = output ?? `${directory}/${nameOf(url)}`;
    const done = await curl(["-sSfL", ...passed, "-o", path, url], context);
    stdout.push(done.stdout);
    const message = done.stderr.replaceAll(/^curl: (?:\(\d+\) )?/gm, "wget: ");
    stderr.push(message !== "" || isQuiet || path === "-" ? message : `'${path}' saved\n`);
    exitCode ||= exitCodes[done.exitCode] ?? 1;
  }
  return { stdout: stdout.join(""), stderr: stderr.join(""), exitCode, stdoutKind: "bytes" };
};

/** `-O-` and `-T10` as `-O -` and `-T 10`. */
function splitLetter(arg: string): [string, string | undefined] {
  return /^-[OPTtU]./.test(arg) ? [arg.slice(0, 2), arg.slice(2)] : [arg, undefined];
}

function nameOf(url: string): string {
  return /^(?:[a-z]+:\/\/)?[^/?#]*\/(?:[^?#]*\/)?([^/?#]+)/i.exec(url)?.[1] ?? "index.html";
}
