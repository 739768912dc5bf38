/** How programs of one language are run, in the words of that language's own command line. */
export type Language = Interpreted | Compiled;

interface Common {
  /** Programs that can run it, best first: the first that the sandbox has is taken. */
  readonly tools: readonly string[];
  readonly extensions: readonly string[];
  /** Template that has them; absent: any. */
  readonly template?: string | undefined;
}

/** Run as it is written. */
interface Interpreted extends Common {
  readonly kind: "interpreted";
  /** Arguments that run this code; the program's own come after them. */
  readonly evaluate: (code: string) => readonly string[];
  /** Arguments that make it read its program from stdin; the program's own come after them. */
  readonly stdinArgs: readonly string[];
  /** Arguments before the name of a file. */
  readonly fileArgs?: readonly string[] | undefined;
  /** Written in a language that the tool may not know: translated here, before anything is started. */
  readonly translate?: ((source: string, name: string) => Promise<Translated>) | undefined;
}

/** Made into a program first. */
interface Compiled extends Common {
  readonly kind: "compiled";
  /** Arguments with which the compiler does nothing but show that it is there. */
  readonly versionArgs: readonly string[];
  readonly compileArgs: (source: string, output: string) => readonly string[];
  /** Name of a source that comes without one. */
  readonly sourceName: string;
}

/** A program in the language of its tool. */
export interface Translated {
  readonly name: string;
  readonly code: string;
}

const shell: Language = {
  kind: "interpreted",
  tools: ["bash", "sh"],
  extensions: [".sh", ".bash"],
  // The word after the code is the program's name, not its first argument.
  evaluate: (code) => ["-c", code, "sh"],
  stdinArgs: ["-s", "-"],
};

const languages: Readonly<Record<string, Language>> = {
  python: {
    kind: "interpreted",
    tools: ["python3"],
    extensions: [".py"],
    template: "python",
    evaluate: (code) => ["-c", code],
    stdinArgs: ["-"],
  },
  javascript: {
    kind: "interpreted",
    tools: ["node"],
    extensions: [".js", ".mjs", ".cjs"],
    template: "node",
    evaluate: (code) => ["-e", code, "--"],
    stdinArgs: ["-"],
  },
  typescript: {
    kind: "interpreted",
    tools: ["node"],
    extensions: [".ts", ".mts"],
    template: "typescript",
    evaluate: (code) => ["--input-type=module", "-e", code, "--"],
    stdinArgs: ["--input-type=module", "-"],
    fileArgs: ["--enable-source-maps"],
    translate: async (source, name) => (await import("./typescript.js")).toJavaScript(source, name),
  },
  shell,
  bash: shell,
  go: {
    kind: "compiled",
    tools: ["go"],
    extensions: [".go"],
    template: "go",
    versionArgs: ["version"],
    // `go run` would give 1 for every exit code of the program.
    compileArgs: (source, output) => ["build", "-o", output, source],
    sourceName: "main.go",
  },
  rust: {
    kind: "compiled",
    tools: ["rustc"],
    extensions: [".rs"],
    template: "rust",
    versionArgs: ["--version"],
    compileArgs: (source, output) => ["--edition=2021", "--crate-name=main", "-o", output, source],
    sourceName: "main.rs",
  },
};

/** The values of `--language`. */
export const languageNames: readonly string[] = Object.keys(languages);

/** The language of that name. */
export function languageOf(name: string): Language | undefined {
  return languages[name];
}

/** The language that files of this extension (`.py`) are written in. */
export function languageOfExtension(extension: string): Language | undefined {
  return Object.values(languages).find(({ extensions }) => extensions.includes(extension));
}
