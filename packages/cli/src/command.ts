/** One option of a command, as data: parsing, help and `help --json` are made from it. */
export interface OptionSpec {
  /** Present: the option takes a value, shown under this name (`SECONDS`). Absent: it is a switch. */
  readonly value?: string | undefined;
  /** One letter: `e` for `-e`. */
  readonly short?: string | undefined;
  readonly description: string;
  /** The values that it takes, where they are a closed list. */
  readonly choices?: readonly string[] | undefined;
  /** Whether it may be given more than once; `values` then has the last. */
  readonly repeatable?: boolean | undefined;
}

/** Options of a command, by their name without the dashes, in the order of its page. */
export type Options = Readonly<Record<string, OptionSpec>>;

/** What a command was called with, checked against its table. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | true>>;
  /** Of options that take a value: all that were given, in their order. */
  readonly every: Readonly<Record<string, readonly string[]>>;
  readonly positionals: readonly string[];
  /** Everything after `--`. */
  readonly rest: readonly string[];
  /** All of it, as written. */
  readonly args: readonly string[];
}

/** One command. */
export interface CommandSpec {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** How it is written, one line per form. */
  readonly usage: readonly string[];
  /** What it does beyond the summary: facts a caller needs, one per line. */
  readonly notes: readonly string[];
  /** How many arguments it takes at most, without those after `--`. */
  readonly maxPositionals: number;
  /** Whether it takes arguments after `--`. */
  readonly takesRest: boolean;
  /** After so many arguments everything belongs to the rest, options and `--` too: the command line of another program. */
  readonly restAfter?: number | undefined;
  readonly options: Options;
  readonly examples: readonly { readonly command: string; readonly shows: string }[];
  readonly exitCodes: Readonly<Record<string, string>>;
  /** Loads what it needs only when it runs, and resolves with the exit code. */
  readonly run: (invocation: Invocation) => Promise<number>;
}
