import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { Invocation } from "../command.js";
import { UsageError } from "../usage-error.js";
import { type Language, languageNames, languageOf, languageOfExtension } from "./languages.js";

/** What is to be run: a command, and the file it needs in the working directory. */
export interface Program {
  readonly interpreter: string;
  readonly command: readonly string[];
  readonly file?: { readonly name: string; readonly code: Uint8Array } | undefined;
  /** The program itself came from stdin, and is what the interpreter reads there. */
  readonly stdin?: Uint8Array | undefined;
}

/**
 * Reads what the command line names.
 * @throws UsageError when it names nothing, two things, a missing file, a directory, or no known language
 */
export async function readProgram({ values, positionals, rest }: Invocation): Promise<Program> {
  const [path] = positionals;
  const code = typeof values.eval === "string" ? values.eval : undefined;
  const language = typeof values.language === "string" ? languageOf(values.language) : undefined;
  if (code !== undefined && path !== undefined) {
    throw new UsageError(`both code (-e) and a file ("${path}") are given`, [{ text: "give one of them" }]);
  }
  if (code !== undefined) return fromCode(code, language ?? python(), rest);
  if (path === undefined) {
    throw new UsageError("nothing to run", [
      { text: "name a file", command: "sandkit run FILE" },
      { text: "give code", command: "sandkit run -e 'print(2**100)'" },
    ]);
  }
  if (path === "-") return fromStdin(language ?? python(), rest);
  return fromFile(path, language ?? languageOfFile(path), rest);
}

function python(): Language {
  return known(languageOf("python"), "python");
}

function languageOfFile(path: string): Language {
  return known(languageOfExtension(extname(path).toLowerCase()), path);
}

function known(language: Language | undefined, of: string): Language {
  if (language) return language;
  const fix = { text: `say which it is: --language ${languageNames.join(" | ")}` };
  throw new UsageError(`cannot tell the language of "${of}" by its name`, [fix]);
}

function fromCode(code: string, { interpreter, evalArgs }: Language, rest: readonly string[]): Program {
  if (code.trim() === "")
    throw new UsageError("the code after -e is empty", [{ text: "give code", command: "sandkit run -e 'print(1)'" }]);
  return { interpreter, command: [interpreter, ...evalArgs, code, ...rest] };
}

async function fromStdin({ interpreter, stdinArgs }: Language, rest: readonly string[]): Promise<Program> {
  const pieces: Uint8Array[] = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return { interpreter, command: [interpreter, ...stdinArgs, ...rest], stdin: Buffer.concat(pieces) };
}

async function fromFile(path: string, { interpreter }: Language, rest: readonly string[]): Promise<Program> {
  const name = basename(path);
  const code = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(path, error);
  });
  // A leading dash would be read as an option by the interpreter.
  const argument = name.startsWith("-") ? `./${name}` : name;
  return { interpreter, command: [interpreter, argument, ...rest], file: { name, code } };
}

function unreadable(path: string, error: NodeJS.ErrnoException): UsageError {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EISDIR: "it is a directory, and a program is one file",
    EACCES: "this user may not read it",
    ERR_INVALID_ARG_VALUE: "a path cannot hold a NUL",
  };
  const reason = reasons[error.code ?? ""] ?? error.message;
  return new UsageError(`cannot read "${path}": ${reason}`, [{ text: "name a readable file, or - for stdin" }]);
}
