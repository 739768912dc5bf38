/** How programs of one language are started, in the words of that language's own command line. */
export interface Language {
  /** The program to look for in the sandbox. */
  readonly interpreter: string;
  /** Arguments before code that is given as one argument. */
  readonly evalArgs: readonly string[];
  /** Arguments that make it read its program from stdin. */
  readonly stdinArgs: readonly string[];
  readonly extensions: readonly string[];
}

const languages: Readonly<Record<string, Language>> = {
  python: { interpreter: "python3", evalArgs: ["-c"], stdinArgs: ["-"], extensions: [".py"] },
  javascript: { interpreter: "node", evalArgs: ["-e"], stdinArgs: ["-"], extensions: [".js", ".mjs", ".cjs"] },
  shell: { interpreter: "sh", evalArgs: ["-c"], stdinArgs: ["-s", "-"], extensions: [".sh"] },
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
