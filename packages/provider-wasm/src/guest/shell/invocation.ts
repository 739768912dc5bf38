/** What a command line asks the shell to do. */
export type Invocation =
  | {
      readonly kind: "script";
      readonly source: { readonly text: string } | { readonly file: string } | { readonly stdin: true };
      readonly name: string;
      readonly positional: readonly string[];
      /** Arguments of a `set` that comes first. */
      readonly options: readonly string[];
    }
  /** One command, whose arguments no shell looks at. */
  | { readonly kind: "command"; readonly name: string; readonly args: readonly string[] }
  | { readonly kind: "usage"; readonly message: string; readonly exitCode: number };

const shells = /^(?:\/usr\/bin\/|\/bin\/)?(?:ba|da)?sh$/;
/** Flags of `set` that the command line of a shell takes too. */
const setFlags = "aefhnuvxC";
const withoutMeaning = new Set(["--login", "--norc", "--noprofile", "--posix", "-l", "-i"]);

/** Reads a command line of which the first word is the program. */
export function readInvocation([program = "", ...args]: readonly string[]): Invocation {
  if (!shells.test(program)) return { kind: "command", name: program, args };
  const options: string[] = [];
  let command = false;
  let fromStdin = false;
  let index = 0;
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (withoutMeaning.has(arg)) continue;
    if (arg === "--version") return usage("GNU bash, version 5.1 (just-bash, in WebAssembly)", 0);
    if (arg === "--" || !/^[-+]./.test(arg)) {
      if (arg === "--") index += 1;
      break;
    }
    for (const flag of arg.slice(1)) {
      if (flag === "c") command = true;
      else if (flag === "s") fromStdin = true;
      else if (flag === "o") {
        index += 1;
        options.push(`${arg[0]}o`, args[index] ?? "");
      } else if (setFlags.includes(flag)) options.push(`${arg[0]}${flag}`);
      else if (flag !== "l" && flag !== "i") return usage(`${program}: ${arg}: invalid option`, 2);
    }
  }
  const [first, ...rest] = args.slice(index);
  if (command) {
    if (first === undefined) return usage(`${program}: -c: option requires an argument`, 2);
    const [name = program, ...positional] = rest;
    return { kind: "script", source: { text: first }, name, positional, options };
  }
  if (first === undefined || fromStdin) {
    const positional = first === undefined ? [] : [first, ...rest];
    return { kind: "script", source: { stdin: true }, name: program, positional, options };
  }
  return { kind: "script", source: { file: first }, name: first, positional: rest, options };
}

function usage(message: string, exitCode: number): Invocation {
  return { kind: "usage", message: `${message}\n`, exitCode };
}
