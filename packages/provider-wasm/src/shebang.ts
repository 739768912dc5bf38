/** What a file asks to be run by. */
export type ScriptRunner =
  | { readonly by: "python" | "javascript"; readonly args: readonly string[] }
  | { readonly by: "shell" }
  /** A program that is not here, or no script at all. */
  | { readonly by: "nothing"; readonly reason: string };

/** Bytes of a file that are looked at. */
export const shebangBytes = 256;

const interpreters = { python: /^python(?:3(?:\.14)?)?$/, javascript: /^node$/, shell: /^(?:ba|da)?sh$/ } as const;

/** Tells by the beginning of an executable file what runs it: what its `#!` line names, or a shell where it has none. */
export function readShebang(head: string): ScriptRunner {
  if (head.includes("\0")) return { by: "nothing", reason: "cannot execute binary file: Exec format error" };
  const [, line = ""] = /^#!([^\n]*)/.exec(head) ?? [];
  const [program, ...args] = line.trim().split(/\s+/);
  if (!program) return { by: "shell" };
  const isEnv = /(?:^|\/)env$/.test(program);
  if (isEnv && args[0] === "-S") args.shift();
  const named = isEnv ? (args.shift() ?? "") : program;
  const name = named.slice(named.lastIndexOf("/") + 1);
  if (interpreters.shell.test(name)) return { by: "shell" };
  for (const by of ["python", "javascript"] as const) if (interpreters[by].test(name)) return { by, args };
  return { by: "nothing", reason: `${named}: bad interpreter: No such file or directory` };
}
