import { Buffer } from "./buffer.js";

/** A piece of what `curl` sends, in the order of the command line. */
export type CurlData =
  | { readonly kind: "text"; readonly text: string }
  /** A file; without its line breaks, or escaped, where that is asked for. */
  | { readonly kind: "file"; readonly path: string; readonly as: "plain" | "exact" | "escaped"; readonly name: string };

/** What a command line of `curl` asks for. */
export interface CurlOptions {
  readonly urls: string[];
  readonly outputs: (string | undefined)[];
  method?: string;
  readonly headers: [name: string, value: string][];
  /** Names of headers that are not to be sent. */
  readonly without: string[];
  readonly data: CurlData[];
  readonly form: string[];
  upload?: string;
  isJson: boolean;
  isGet: boolean;
  isHead: boolean;
  includesHead: boolean;
  isSilent: boolean;
  showsErrors: boolean;
  isVerbose: boolean;
  fails: "no" | "silently" | "with body";
  follows: boolean;
  decodes: boolean;
  mostRedirects: number;
  maxSeconds?: number;
  retries: number;
  writeOut?: string;
}

/** A command line that cannot be honoured. */
export class CurlUsage extends Error {}

type Option =
  | { readonly takes: false; readonly set: (options: CurlOptions) => void }
  | { readonly takes: true; readonly set: (options: CurlOptions, value: string) => void };

const flag = (set: (options: CurlOptions) => void): Option => ({ takes: false, set });
const value = (set: (options: CurlOptions, text: string) => void): Option => ({ takes: true, set });
const nothing = flag(() => undefined);
const header = (name: string) => value(({ headers }, text) => headers.push([name, text]));
const refuse = (why: string) => () => {
  throw new CurlUsage(why);
};

const byName: Readonly<Record<string, Option>> = {
  url: value(({ urls }, text) => urls.push(text)),
  request: value((options, text) => {
    options.method = text;
  }),
  header: value((options, text) => addHeader(options, text)),
  "user-agent": header("User-Agent"),
  referer: header("Referer"),
  user: value(({ headers }, text) => headers.push(["Authorization", `Basic ${base64(text)}`])),
  "oauth2-bearer": value(({ headers }, text) => headers.push(["Authorization", `Bearer ${text}`])),
  cookie: value(({ headers }, text) => {
    if (!text.includes("=")) throw new CurlUsage("-b takes cookies as text here (name=value), not from a file");
    headers.push(["Cookie", text]);
  }),
  data: value(({ data }, text) => addData(data, text, "plain")),
  "data-ascii": value(({ data }, text) => addData(data, text, "plain")),
  "data-binary": value(({ data }, text) => addData(data, text, "exact")),
  "data-raw": value(({ data }, text) => data.push({ kind: "text", text })),
  "data-urlencode": value(({ data }, text) => addEscaped(data, text)),
  json: value((options, text) => {
    options.isJson = true;
    addData(options.data, text, "exact");
  }),
  form: value(({ form }, text) => form.push(text)),
  get: flag((options) => {
    options.isGet = true;
  }),
  head: flag((options) => {
    options.isHead = true;
  }),
  include: flag((options) => {
    options.includesHead = true;
  }),
  "upload-file": value((options, text) => {
    options.upload = text;
  }),
  output: value(({ outputs }, text) => outputs.push(text)),
  "remote-name": flag(({ outputs }) => outputs.push(undefined)),
  silent: flag((options) => {
    options.isSilent = true;
  }),
  "show-error": flag((options) => {
    options.showsErrors = true;
  }),
  verbose: flag((options) => {
    options.isVerbose = true;
  }),
  fail: flag((options) => {
    options.fails = "silently";
  }),
  "fail-with-body": flag((options) => {
    options.fails = "with body";
  }),
  location: flag((options) => {
    options.follows = true;
  }),
  compressed: flag((options) => {
    options.decodes = true;
  }),
  "max-redirs": value((options, text) => {
    options.mostRedirects = numberOf("--max-redirs", text);
  }),
  "max-time": value((options, text) => {
    options.maxSeconds = numberOf("--max-time", text);
  }),
  retry: value((options, text) => {
    options.retries = Math.min(numberOf("--retry", text), 10);
  }),
  "write-out": value((options, text) => {
    options.writeOut = text;
  }),
  insecure: { takes: false, set: refuse("-k: certificates are always checked, by the host") },
  "cookie-jar": { takes: true, set: refuse("-c: cookies are not kept in this sandbox") },
  proxy: { takes: true, set: refuse("-x: there are no proxies in this sandbox") },
  cacert: { takes: true, set: refuse("--cacert: certificates are checked by the host") },
  // The host bounds how long a connection may take to come about.
  "connect-timeout": value((_options, text) => void numberOf("--connect-timeout", text)),
  "retry-delay": value((_options, text) => void numberOf("--retry-delay", text)),
  "retry-max-time": value((_options, text) => void numberOf("--retry-max-time", text)),
  "retry-connrefused": nothing,
  "retry-all-errors": nothing,
  "no-progress-meter": nothing,
  "progress-bar": nothing,
  "no-buffer": nothing,
  globoff: nothing,
  "http1.1": nothing,
  ipv4: nothing,
  disable: nothing,
};

const letters: Readonly<Record<string, string>> = {
  X: "request",
  H: "header",
  A: "user-agent",
  e: "referer",
  u: "user",
  b: "cookie",
  c: "cookie-jar",
  d: "data",
  F: "form",
  G: "get",
  I: "head",
  i: "include",
  T: "upload-file",
  o: "output",
  O: "remote-name",
  s: "silent",
  S: "show-error",
  v: "verbose",
  f: "fail",
  L: "location",
  m: "max-time",
  w: "write-out",
  k: "insecure",
  x: "proxy",
  "#": "progress-bar",
  N: "no-buffer",
  g: "globoff",
  4: "ipv4",
  q: "disable",
};

/** Reads a command line. @throws CurlUsage for an option that cannot be honoured */
export function readCurlOptions(args: readonly string[]): CurlOptions {
  const options: CurlOptions = {
    urls: [],
    outputs: [],
    headers: [],
    without: [],
    data: [],
    form: [],
    isJson: false,
    isGet: false,
    isHead: false,
    includesHead: false,
    isSilent: false,
    showsErrors: false,
    isVerbose: false,
    fails: "no",
    follows: false,
    decodes: false,
    mostRedirects: 50,
    retries: 0,
  };
  const rest = [...args];
  const apply = (name: string, shown: string, given?: string) => {
    const option = Object.hasOwn(byName, name) ? byName[name] : undefined;
    if (!option) throw new CurlUsage(`option ${shown}: is unknown, or not available in this sandbox`);
    if (!option.takes) {
      option.set(options);
      return;
    }
    const text = given ?? rest.shift();
    if (text === undefined) throw new CurlUsage(`option ${shown}: requires parameter`);
    option.set(options, text);
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg.startsWith("--")) {
      const [name = "", given] = arg.slice(2).split(/=(.*)/s);
      apply(name, arg, given);
    } else if (arg.startsWith("-") && arg !== "-") readLetters(arg, apply);
    else options.urls.push(arg);
  }
  return options;
}

function readLetters(arg: string, apply: (name: string, shown: string, given?: string) => void): void {
  for (let index = 1; index < arg.length; index += 1) {
    const letter = arg[index] ?? "";
    const name = Object.hasOwn(letters, letter) ? (letters[letter] ?? "") : letter;
    const takes = byName[name]?.takes ?? false;
    const following = arg.slice(index + 1);
    apply(name, `-${letter}`, takes && following !== "" ? following : undefined);
    if (takes) return;
  }
}

function addHeader({ headers, without }: CurlOptions, text: string): void {
  const match = /^([^:;]+)([:;])\s*(.*)$/s.exec(text);
  if (!match) throw new CurlUsage(`-H ${text}: a header is "Name: value"`);
  const [, name = "", mark, content = ""] = match;
  if (mark === ":" && content === "") without.push(name.toLowerCase());
  else headers.push([name, mark === ";" ? "" : content]);
}

function addData(data: CurlData[], text: string, as: "plain" | "exact"): void {
  data.push(text.startsWith("@") ? { kind: "file", path: text.slice(1), as, name: "" } : { kind: "text", text });
}

function addEscaped(data: CurlData[], text: string): void {
  const file = /^([^=@]*)@(.*)$/s.exec(text);
  if (file) data.push({ kind: "file", path: file[2] ?? "", as: "escaped", name: file[1] ?? "" });
  else {
    const [name = "", content] = text.includes("=") ? text.split(/=(.*)/s) : ["", text];
    const start = name === "" ? "" : `${name}=`;
    data.push({ kind: "text", text: start + encodeURIComponent(content ?? "") });
  }
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || number < 0) {
    throw new CurlUsage(`option ${option}: expected a proper numerical parameter`);
  }
  return number;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
