/** The options that a command knows. */
export interface OptionNames {
  /** One letter each, followed by a colon when it takes a value. */
  readonly letters: string;
  /** The long names of some, by name. */
  readonly names?: Readonly<Record<string, string>>;
  /** Ends the options at the first operand, as for commands whose operands are a command. */
  readonly inOrder?: boolean;
}

export interface CommandLine {
  /** By letter; of options without a value, the empty string. */
  readonly options: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
}

/** Reads the arguments of a command as GNU's tools do. @throws Error for an option that it does not know */
export function readOptions(args: readonly string[], { letters, names = {}, inOrder }: OptionNames): CommandLine {
  const options = new Map<string, string>();
  const operands: string[] = [];
  const waiting = [...args];
  const value = (option: string) => {
    const next = waiting.shift();
    if (next === undefined) throw new Error(`option requires an argument -- '${option}'`);
    return next;
  };
  const readLong = (arg: string) => {
    const [name = "", ...rest] = arg.slice(2).split("=");
    const letter = Object.hasOwn(names, name) ? names[name] : undefined;
    if (letter === undefined) throw new Error(`unrecognized option '--${name}'`);
    const takesValue = letters.includes(`${letter}:`);
    if (!takesValue && rest.length > 0) throw new Error(`option '--${name}' doesn't allow an argument`);
    options.set(letter, !takesValue ? "" : rest.length > 0 ? rest.join("=") : value(name));
  };
  const readShort = (arg: string) => {
    for (let index = 1; index < arg.length; index += 1) {
      const letter = arg[index] ?? "";
      if (letter === ":" || !letters.includes(letter)) throw new Error(`invalid option -- '${letter}'`);
      if (!letters.includes(`${letter}:`)) {
        options.set(letter, "");
        continue;
      }
      options.set(letter, index + 1 < arg.length ? arg.slice(index + 1) : value(letter));
      return;
    }
  };
  for (let arg = waiting.shift(); arg !== undefined; arg = waiting.shift()) {
    if (arg === "--") operands.push(...waiting.splice(0));
    else if (arg.startsWith("--")) readLong(arg);
    else if (arg.startsWith("-") && arg !== "-") readShort(arg);
    else operands.push(arg, ...(inOrder ? waiting.splice(0) : []));
  }
  return { options, operands };
}
