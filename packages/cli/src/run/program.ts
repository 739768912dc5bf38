import { createReadStream } from "node:fs";
import { basename, extname } from "node:path";
import type { Invocation } from "../command.js";
import { UsageError } from "../usage-error.js";
import { type Language, languageNames, languageOf, languageOfExtension } from "./languages.js";

const maxCodeBytes = 64 * 1024 * 1024;
const nothing = new Uint8Array();

/** What is to be run. */
export interface Program {
  readonly language: Language;
  /** The file that it needs in the working directory. */
  readonly file?: { readonly name: string; readonly code: Uint8Array } | undefined;
  /** The program itself came from stdin, and is what the interpreter reads there. */
  readonly stdin?: Uint8Array | undefined;
  /** Makes the program; absent where it runs as it is written. */
  readonly compile?: ((tool: string) => readonly string[]) | undefined;
  /** The program itself, by the tool of its language that the sandbox has. */
  readonly command: (tool: string) => readonly string[];
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

async function fromCode(code: string, language: Language, rest: readonly string[]): Promise<Program> {
  if (code.trim() === "")
    throw new UsageError("the code after -e is empty", [{ text: "give code", command: "sandkit run -e 'print(1)'" }]);
  if (language.kind === "compiled") return compiled(language, language.sourceName, Buffer.from(code), rest);
  const { code: runnable } = (await language.translate?.(code, "-e")) ?? { code };
  return { language, command: (tool) => [tool, ...language.evaluate(runnable), ...rest] };
}

async function fromStdin(language: Language, rest: readonly string[]): Promise<Program> {
  const source = await readCode(process.stdin, "stdin");
  if (language.kind === "compiled") return { ...compiled(language, language.sourceName, source, rest), stdin: nothing };
  const translated = await language.translate?.(source.toString(), "stdin");
  const stdin = translated ? Buffer.from(translated.code) : source;
  return { language, command: (tool) => [tool, ...language.stdinArgs, ...rest], stdin };
}

/** A source that becomes a program beside it, as its compiler would name it. */
function compiled(
  language: Extract<Language, { readonly kind: "compiled" }>,
  givenName: string,
  code: Uint8Array,
  rest: readonly string[],
): Program {
  // A compiler takes no file of another name, and the program must not be called as its source is.
  const name = language.extensions.includes(extname(givenName)) ? givenName : `${givenName}${language.extensions[0]}`;
  const output = `./${basename(name, extname(name))}`;
  return {
    language,
    file: { name, code },
    compile: (tool) => [tool, ...language.compileArgs(asArgument(name), output)],
    command: () => [output, ...rest],
  };
}

/** A leading dash would be read as an option. */
function asArgument(name: string): string {
  return name.startsWith("-") ? `./${name}` : name;
}

/** Reads a program; a source that never ends must not fill the memory. */
async function readCode(source: AsyncIterable<Uint8Array>, from: string): Promise<Buffer> {
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

async function fromFile(path: string, language: Language, rest: readonly string[]): Promise<Program> {
  const source = { name: basename(path), code: await readFileOf(path) };
  if (language.kind === "compiled") return compiled(language, source.name, source.code, rest);
  const translated = await language.translate?.(source.code.toString(), source.name);
  const file = translated ? { name: translated.name, code: Buffer.from(translated.code) } : source;
  const { fileArgs = [] } = language;
  return { language, file, command: (tool) => [tool, ...fileArgs, asArgument(file.name), ...rest] };
}

async function readFileOf(path: string): Promise<Buffer> {
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
