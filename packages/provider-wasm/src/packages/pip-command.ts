const directory = /^(?:\/usr(?:\/local)?)?\/bin\//;
/** Options of Python that change nothing for `pip`. */
const pythonOption = /^-[bBdEIPqRsSuv]+$/;

/** Whether a command is `pip`, by whatever name, and its arguments; undefined when it is another. */
export function pipArguments([program = "", ...args]: readonly string[]): readonly string[] | undefined {
  const name = program.replace(directory, "");
  if (/^pip(?:3(?:\.14)?)?$/.test(name)) return args;
  if (!/^python(?:3(?:\.14)?)?$/.test(name)) return undefined;
  const module = args.findIndex((arg) => !pythonOption.test(arg));
  if (args[module] === "-mpip") return args.slice(module + 1);
  return args[module] === "-m" && args[module + 1] === "pip" ? args.slice(module + 2) : undefined;
}
