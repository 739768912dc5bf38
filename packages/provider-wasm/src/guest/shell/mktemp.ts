import type { ResolvedCommandContext } from "just-bash";
import { host } from "./globals.js";
import type { Run } from "./nested.js";
import { readOptions } from "./read-options.js";

const names = { directory: "d", "dry-run": "u", quiet: "q", suffix: "S", tmpdir: "p" };
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Of names that all exist, so many are tried. */
const mostAttempts = 100;

/** `mktemp`, with the options of GNU's. */
export const mktemp: Run = async (args, context) => {
  const { options, operands } = readOptions(args.map(withDirectory), { letters: "dutqp:S:", names });
  if (operands.length > 1) throw new Error("too many templates");
  const [template = "tmp.XXXXXXXXXX"] = operands;
  const { head, length, tail } = splitTemplate(template, options.get("S"));
  const inTemporary = operands.length === 0 || options.has("p") || options.has("t");
  if (inTemporary && template.startsWith("/")) throw new Error(`invalid template, '${template}', is absolute`);
  const temporary = options.get("p") || context.exportedEnv?.TMPDIR || "/tmp";
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const name = head + randomLetters(length) + tail;
    const path = inTemporary ? `${temporary.replace(/\/+$/, "")}/${name}` : name;
    const full = context.fs.resolvePath(context.cwd, path);
    if (await context.fs.exists(full)) continue;
    if (!options.has("u")) await make(full, options.has("d"), context);
    return { stdout: `${path}\n`, stderr: "", exitCode: 0 };
  }
  throw new Error(`failed to create a file by the template '${template}': File exists`);
};

/** `--tmpdir` alone stands for the usual one. */
function withDirectory(arg: string): string {
  return arg === "--tmpdir" ? "--tmpdir=" : arg;
}

function splitTemplate(template: string, suffix: string | undefined): { head: string; length: number; tail: string } {
  const text = suffix === undefined ? template : template + suffix;
  // With a suffix by option, the template itself has to end in them.
  const [run = ""] = (suffix === undefined ? /X{3,}(?=[^X/]*$)/ : /X{3,}$/).exec(template) ?? [];
  if (run === "") throw new Error(`too few X's in template '${template}'`);
  const start = template.lastIndexOf(run);
  return { head: template.slice(0, start), length: run.length, tail: text.slice(start + run.length) };
}

function randomLetters(length: number): string {
  const random = new Uint8Array(length);
  host.random(random);
  return Array.from(random, (byte) => letters[byte % letters.length]).join("");
}

async function make(path: string, directory: boolean, { fs }: ResolvedCommandContext): Promise<void> {
  await (directory ? fs.mkdir(path) : fs.writeFile(path, ""));
  await fs.chmod(path, directory ? 0o700 : 0o600);
}
