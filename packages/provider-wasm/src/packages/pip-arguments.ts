import { brief } from "./brief.js";

/** A command line of `pip` that cannot be honoured; the message says which part, and why. */
export class PipUsageError extends Error {}

/**
 * What an option comes to: a flag or value that is looked at; one that asks for what is so anyway (`moot`); one that
 * has no effect, which is said (`vain`); or why it is refused.
 */
type Option = "flag" | "value" | "moot" | "moot value" | "vain" | "vain value" | { readonly refused: string };

interface Options {
  readonly names: Readonly<Record<string, Option>>;
  /** Short options by their letter. */
  readonly letters: Readonly<Record<string, string>>;
}

/** A command line, taken apart. */
export interface PipArguments {
  readonly words: readonly string[];
  /** By their long names. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly warnings: readonly string[];
}

const index = { refused: "the host chooses where packages come from" };
const place = { refused: "packages go to one place in this sandbox" };
const noSources = { refused: "nothing is built from source in this sandbox" };
const notHere = { refused: "it is not available in this sandbox" };

const common: Options = {
  names: {
    "--help": "flag",
    "--quiet": "flag",
    ...all("moot", "--verbose", "--no-input", "--isolated", "--no-color", "--disable-pip-version-check"),
    ...all("moot", "--no-python-version-warning", "--require-virtualenv"),
    ...all("moot value", "--progress-bar", "--root-user-action", "--keyring-provider"),
    ...all("vain", "--no-cache-dir"),
    ...all("vain value", "--timeout", "--default-timeout", "--retries", "--cache-dir", "--log"),
    ...all(index, "--proxy", "--cert", "--client-cert", "--trusted-host"),
    "--python": place,
  },
  letters: { h: "--help", q: "--quiet", v: "--verbose" },
};

const commands: Readonly<Record<string, Options>> = {
  install: {
    names: {
      ...all("flag", "--upgrade", "--force-reinstall"),
      "--requirement": "value",
      "--only-binary": "moot value",
      ...all("moot", "--user", "--prefer-binary", "--break-system-packages", "--no-warn-script-location"),
      ...all("moot", "--no-compile", "--compile", "--no-clean", "--no-build-isolation", "--use-pep517"),
      ...all("moot", "--no-warn-conflicts"),
      ...all(index, "--index-url", "--pypi-url", "--extra-index-url", "--no-index", "--find-links"),
      ...all(place, "--target", "--prefix", "--root"),
      ...all(noSources, "--editable", "--no-binary", "--src", "--config-settings"),
      "--no-deps": { refused: "packages come with what they need" },
      "--pre": { refused: "name the version instead, as in NAME>=2.0rc1" },
      "--ignore-installed": { refused: "use --force-reinstall" },
      "--constraint": { refused: "give the versions as requirements" },
      "--upgrade-strategy": { refused: "what a package needs stays as it is where it fits" },
      "--require-hashes": { refused: "the host checks every file against the hash that the index gives" },
    },
    letters: {
      ...{ U: "--upgrade", r: "--requirement", c: "--constraint", e: "--editable", t: "--target" },
      ...{ i: "--index-url", f: "--find-links", I: "--ignore-installed", C: "--config-settings" },
    },
  },
  uninstall: {
    names: { "--requirement": "value", ...all("moot", "--yes", "--break-system-packages") },
    letters: { y: "--yes", r: "--requirement" },
  },
  list: {
    names: {
      "--format": "value",
      ...all("moot", "--local", "--include-editable", "--exclude-editable", "--no-index"),
      ...all(notHere, "--outdated", "--uptodate", "--editable", "--not-required", "--user", "--path", "--exclude"),
    },
    letters: { o: "--outdated", u: "--uptodate", e: "--editable", l: "--local" },
  },
  freeze: {
    names: {
      ...all("moot", "--all", "--local", "--exclude-editable"),
      ...all(notHere, "--requirement", "--user", "--path", "--exclude"),
    },
    letters: { r: "--requirement", l: "--local" },
  },
  show: { names: { "--files": notHere }, letters: { f: "--files" } },
  check: { names: {}, letters: {} },
};

/** Takes the arguments of a command of `pip` apart, of those that there are here. @throws PipUsageError */
export function parseArguments(command: string, args: readonly string[]): PipArguments {
  const own = commands[command] ?? { names: {}, letters: {} };
  const names = { ...common.names, ...own.names };
  const letters = { ...common.letters, ...own.letters };
  const words: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string[]>();
  const warnings: string[] = [];
  const rest = args.flatMap((word) => (/^-[^-]./.test(word) ? separated(word, names, letters) : [word])).reverse();
  for (let word = rest.pop(); word !== undefined; word = rest.pop()) {
    if (word === "--") {
      words.push(...rest.reverse());
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const [written = "", attached] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
    const name = written.startsWith("--") ? written : (letters[written.slice(1)] ?? written);
    const option = Object.hasOwn(names, name) ? names[name] : undefined;
    if (option === undefined) throw new PipUsageError(`pip ${command} has no option ${brief(written)} in this sandbox`);
    if (typeof option === "object") throw new PipUsageError(`pip ${command} ${written}: ${option.refused}`);
    const value = option.endsWith("value") ? (attached ?? rest.pop()) : undefined;
    if (option.endsWith("value") && value === undefined) throw new PipUsageError(`${written} needs a value`);
    if (option === "flag") flags.add(name);
    if (option === "value") {
      const own = values.get(name) ?? [];
      own.push(value ?? "");
      values.set(name, own);
    }
    if (option.startsWith("vain")) warnings.push(`${written} has no effect: the host fetches packages in its own way`);
  }
  return { words, flags, values, warnings };
}

/** The command of a command line, whatever options come before it, and all the other arguments. */
export function splitCommand(args: readonly string[]): { command: string | undefined; rest: readonly string[] } {
  const takesValue = (word: string | undefined) => `${common.names[word ?? ""]}`.endsWith("value");
  const at = args.findIndex((word, place) => !word.startsWith("-") && !takesValue(args[place - 1]));
  if (at < 0) return { command: undefined, rest: args };
  return { command: args[at], rest: [...args.slice(0, at), ...args.slice(at + 1)] };
}

/** `-qr file` is `-q -r file`, and `-rfile` too is `-r file`. */
function separated(word: string, names: Options["names"], letters: Options["letters"]): string[] {
  for (let end = 1; end < word.length; end += 1) {
    const option = names[letters[word[end] ?? ""] ?? ""];
    if (option !== undefined && !(typeof option === "string" && option.endsWith("value"))) continue;
    const before = Array.from(word.slice(1, end + 1), (letter) => `-${letter}`);
    return end + 1 < word.length ? [...before, word.slice(end + 1)] : before;
  }
  return Array.from(word.slice(1), (letter) => `-${letter}`);
}

function all<Kind extends Option>(option: Kind, ...names: readonly string[]): Record<string, Kind> {
  return Object.fromEntries(names.map((name) => [name, option]));
}
