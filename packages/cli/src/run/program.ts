import { createReadStream } from "node:fs";
import { basename, extname } from "node:path";
import type { Invocation } from "../command.js";
import { UsageError } from "../usage-error.js";
import { type Language, languageNames, languageOf, languageOfExtension } from "./languages.js";

const maxCodeBytes = 64 * 1024 * 1024;

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
  const stdin = await readCode(process.stdin, "stdin");
  return { interpreter, command: [interpreter, ...stdinArgs, ...rest], stdin };
}

/** Reads a program; a source that never ends must not fill the memory. */
async function readCode(source: AsyncIterable<Uint8Array>, from: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > maxCodeBytes) {
      const fix = [{ text: "give the program as FILE, and its data on stdin", command: "sandkit run FILE < DATA" }];
      throw new UsageError(`the program on ${from} is above 64 MiB`, fix);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function fromFile(path: string, { interpreter }: Language, rest: readonly string[]): Promise<Program> {
  const name = basename(path);
  const code = await readFileOf(path);
  // A leading dash would be read as an option by the interpreter.
  const argument = name.startsWith("-") ? `./${name}` : name;
  return { interpreter, command: [interpreter, argument, ...rest], file: { name, code } };
}

async function readFileOf(path: string): Promise<Uint8Array> {
  try {
    return await readCode(createReadStream(path), `"${path}"`);
  } catch (error) {
    throw error instanceof UsageError ? error : unreadable(path, error as NodeJS.ErrnoException);
  }
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
