import type { Command, ExecResult, ResolvedCommandContext } from "just-bash";
import type { ResponseHead } from "../../network/messages.js";
import { Headers } from "../web/headers.js";
import type { Hop } from "../web/redirects.js";
import { latin1 } from "./bytes.js";
import { bodyOf } from "./curl-body.js";
import { type CurlOptions, CurlUsage, readCurlOptions } from "./curl-options.js";
import { TransferFailure, type TransferTarget, transfer } from "./http.js";

/** Of what goes to stdout, which is in memory until the command ends. */
const largestOutput = 64 * 1024 * 1024;
const passing = new Set([408, 429, 500, 502, 503, 504]);
const passingExits = new Set([6, 7, 28, 56]);

const usage =
  "usage: curl [options...] <url>: -X -H -d --data-raw --data-binary --data-urlencode --json -F -G -T -u -A -e -b -I -i -o -O -s -S -f -L -m -w -v --compressed --retry --max-redirs";

/** `curl` over the requests of this sandbox. What it cannot do it refuses by the option's name. */
export const curl: Command["execute"] = async (args, context) => {
  if (args.includes("--help") || args.includes("-h")) return result(0, `${usage}\n`);
  if (args.includes("--version") || args.includes("-V")) return result(0, "curl 8 (sandkit, by the host)\n");
  try {
    const options = readCurlOptions(args);
    if (options.urls.length === 0) throw new CurlUsage("no URL specified");
    const output = { stdout: [] as string[], stderr: [] as string[], size: 0 };
    let exitCode = 0;
    for (const [index, url] of options.urls.entries()) {
      exitCode = await fetchOne(options, url, index, context, output);
    }
    return { ...result(exitCode, output.stdout.join(""), output.stderr.join("")), stdoutKind: "bytes" };
  } catch (error) {
    if (error instanceof CurlUsage) return result(2, "", `curl: ${error.message}\n`);
    throw error;
  }
};

interface Output {
  readonly stdout: string[];
  readonly stderr: string[];
  size: number;
}

/** One address, as often as it is to be tried; its exit code. */
async function fetchOne(
  options: CurlOptions,
  given: string,
  index: number,
  context: ResolvedCommandContext,
  output: Output,
): Promise<number> {
  const deadline = options.maxSeconds === undefined ? undefined : Date.now() + options.maxSeconds * 1000;
  for (let left = options.retries; ; left -= 1) {
    const tried = { stdout: [] as string[], stderr: [] as string[], size: output.size };
    const exitCode = await attempt(options, given, index, context, tried, deadline, left > 0);
    if (exitCode !== "again") {
      output.stdout.push(...tried.stdout);
      output.stderr.push(...tried.stderr);
      output.size = tried.size;
      return exitCode;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function attempt(
  options: CurlOptions,
  given: string,
  index: number,
  context: ResolvedCommandContext,
  output: Output,
  deadline: number | undefined,
  mayTryAgain: boolean,
): Promise<number | "again"> {
  const started = Date.now();
  const target = new Target(options, fileOf(options, given, index), context, output);
  try {
    const head = await transfer(
      await requestOf(options, given, context),
      { ...options, followsRedirects: options.follows, decode: options.decodes, deadline, signal: context.signal },
      target,
    );
    if (mayTryAgain && passing.has(head.status)) return "again";
    await target.end();
    if (options.writeOut !== undefined) output.stdout.push(written(options.writeOut, head, target.size, started));
    if (head.status < 400 || options.fails === "no") return 0;
    complain(options, output, 22, `The requested URL returned error: ${head.status}`);
    return 22;
  } catch (error) {
    if (!(error instanceof TransferFailure)) throw error;
    if (mayTryAgain && passingExits.has(error.exitCode)) return "again";
    complain(options, output, error.exitCode, error.message);
    return error.exitCode;
  }
}

function complain({ isSilent, showsErrors }: CurlOptions, { stderr }: Output, exitCode: number, message: string): void {
  if (!isSilent || showsErrors) stderr.push(`curl: (${exitCode}) ${message}\n`);
}

async function requestOf(options: CurlOptions, given: string, context: ResolvedCommandContext): Promise<Hop> {
  const body = await bodyOf(options, context);
  const headers = new Headers();
  headers.set("User-Agent", "curl/8");
  headers.set("Accept", options.isJson ? "application/json" : "*/*");
  if (body.type !== undefined) headers.set("Content-Type", body.type);
  // Of each header what the command line says first takes the place of ours.
  for (const name of new Set(options.headers.map(([known]) => known.toLowerCase()))) headers.delete(name);
  for (const name of options.without) headers.delete(name);
  for (const [name, value] of options.headers) headers.append(name, latin1(new TextEncoder().encode(value)));
  const method = options.method ?? (options.isHead ? "HEAD" : body.method);
  return { method, url: withQuery(addressOf(given), body.query), headers, body: body.bytes };
}

/** Without a scheme it is http, as with curl. */
function addressOf(given: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
}

function withQuery(url: string, query: string): string {
  if (query === "") return url;
  const [address = "", fragment] = url.split(/(#.*)/s);
  return `${address}${address.includes("?") ? "&" : "?"}${query}${fragment ?? ""}`;
}

function fileOf({ outputs }: CurlOptions, url: string, index: number): string | undefined {
  if (index >= outputs.length) return undefined;
  const named = outputs[index];
  if (named === "-") return undefined;
  if (named !== undefined) return named;
  const name = /^(?:[a-z]+:\/\/)?[^/?#]*\/(?:[^?#]*\/)?([^/?#]+)/i.exec(url)?.[1];
  if (name === undefined) throw new CurlUsage(`-O: ${url} names no file: use -o`);
  return name;
}

/** Writes an answer to a file as it comes, or collects it. */
class Target implements TransferTarget {
  readonly #options: CurlOptions;
  readonly #path: string | undefined;
  readonly #context: ResolvedCommandContext;
  readonly #output: Output;
  #begun = false;
  #discards = false;
  size = 0;

  constructor(options: CurlOptions, path: string | undefined, context: ResolvedCommandContext, output: Output) {
    this.#options = options;
    this.#path = path === undefined ? undefined : context.fs.resolvePath(context.cwd, path);
    this.#context = context;
    this.#output = output;
  }

  async head(head: ResponseHead): Promise<void> {
    const { isHead, includesHead, isVerbose, fails } = this.#options;
    this.#discards = head.status >= 400 && fails === "silently";
    const lines = [
      `HTTP/1.1 ${head.status} ${head.reason}`,
      ...head.headers.map(([name, value]) => `${name}: ${value}`),
    ];
    if (isVerbose) this.#output.stderr.push(...lines.map((line) => `< ${line}\n`), "<\n");
    if ((isHead || includesHead) && !this.#discards) {
      await this.#write(Uint8Array.from(`${lines.join("\r\n")}\r\n\r\n`, (char) => char.charCodeAt(0)));
    }
  }

  async body(bytes: Uint8Array): Promise<void> {
    this.size += bytes.length;
    if (!this.#discards) await this.#write(bytes);
  }

  /** An answer without a byte leaves an empty file. */
  async end(): Promise<void> {
    if (!this.#discards) await this.#write(new Uint8Array());
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { fs } = this.#context;
    if (this.#path === undefined) {
      this.#output.size += bytes.length;
      if (this.#output.size > largestOutput) {
        throw new TransferFailure(23, `more than ${largestOutput} bytes for stdout: write them to a file with -o`);
      }
      if (bytes.length > 0) this.#output.stdout.push(latin1(bytes));
      return;
    }
    try {
      if (this.#begun) await fs.appendFile(this.#path, bytes);
      else await fs.writeFile(this.#path, bytes);
      this.#begun = true;
    } catch (error) {
      throw new TransferFailure(
        23,
        `Failed writing ${this.#path}: ${error instanceof Error ? error.message : "failed"}`,
      );
    }
  }
}

function written(format: string, head: ResponseHead, size: number, started: number): string {
  const values: Readonly<Record<string, string>> = {
    http_code: `${head.status}`,
    response_code: `${head.status}`,
    content_type: head.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "",
    url_effective: head.url,
    redirect_url: head.location ?? "",
    size_download: `${size}`,
    time_total: ((Date.now() - started) / 1000).toFixed(6),
    method: "",
    scheme: head.url.split(":")[0] ?? "",
    http_version: "1.1",
  };
  return format
    .replace(/%\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? "") : whole))
    .replaceAll("\\n", "\n")
    .replaceAll("\\t", "\t")
    .replaceAll("\\r", "\r");
}

function result(exitCode: number, stdout: string, stderr = ""): ExecResult {
  return { stdout, stderr, exitCode };
}
