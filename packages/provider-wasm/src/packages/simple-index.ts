import { setImmediate as othersFirst } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { DownloadError } from "./download-error.js";
import { downloadFailure, packageError } from "./errors.js";
import type { Fetcher } from "./fetcher.js";
import { shown, withoutCredentials, withSlash } from "./web-address.js";

/** One file that an index offers. */
export interface IndexFile {
  readonly filename: string;
  /** Without credentials, as those go with the host; undefined where it is none. Pages are long: worked out on demand. */
  readonly url: () => URL | undefined;
  /** Absent where the index gives none: such a file is never taken. */
  readonly sha256?: string | undefined;
  /** Of the metadata beside the file. */
  readonly metadataSha256?: string | undefined;
  readonly requiresPython?: string | undefined;
  readonly yanked: boolean;
}

const largestPage = 8 * 1024 * 1024;
const mostFiles = 20_000;
/** In bytes, as file systems have it; what is longer is no wheel that anybody could keep. */
const longestFilename = 255;
/** Elements within one another, of which the parser walks the whole pile. */
const deepest = 100;
/** Characters that are parsed before others have their turn. */
const pieceLength = 64 * 1024;
const accept =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1, application/json;q=0.1";
const hash = /^[0-9a-f]{64}$/;

/** Asks an index of PEP 503 or PEP 691 for the files of one package; undefined when it knows no such package. */
export async function filesOf(fetcher: Fetcher, indexUrl: URL, name: string): Promise<IndexFile[] | undefined> {
  const page = new URL(`${name}/`, withSlash(indexUrl));
  try {
    const { url, contentType, bytes } = await fetcher.get(page, largestPage, accept);
    return /json/.test(contentType) ? fromJson(bytes.toString(), url) : await fromHtml(bytes.toString(), url);
  } catch (error) {
    if (error instanceof DownloadError && (error.status === 404 || error.status === 410)) return undefined;
    if (error instanceof DownloadError) throw downloadFailure(name, error);
    if (!(error instanceof SyntaxError)) throw error;
    const reason = `${shown(page)} is no page of an index: ${error.message}: check indexUrl`;
    throw packageError("UNAVAILABLE", name, reason, error);
  }
}

type Json = Readonly<Record<string, unknown>>;

function fromJson(text: string, page: URL): IndexFile[] {
  const answer: unknown = JSON.parse(text);
  const files = isObject(answer) ? answer.files : undefined;
  if (!Array.isArray(files)) throw new SyntaxError("it lists no files");
  if (files.length > mostFiles) throw tooMany();
  return files.filter(isObject).flatMap((file) => {
    const { filename, yanked } = file;
    if (typeof filename !== "string" || isTooLong(filename)) return [];
    return [
      {
        filename,
        url: () => addressOf(file.url, page),
        sha256: hashIn(file.hashes),
        metadataSha256: hashIn(file["core-metadata"] ?? file["dist-info-metadata"]),
        requiresPython: textOf(file["requires-python"]),
        yanked: yanked !== undefined && yanked !== false,
      },
    ];
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function hashIn(hashes: unknown): string | undefined {
  const value = isObject(hashes) ? hashes.sha256 : undefined;
  return typeof value === "string" && hash.test(value) ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Undefined for what is none: one bad address must not hide the other files. */
function addressOf(text: unknown, base: URL): URL | undefined {
  return typeof text === "string" && URL.canParse(text, base.href)
    ? withoutCredentials(new URL(text, base))
    : undefined;
}

async function fromHtml(text: string, page: URL): Promise<IndexFile[]> {
  const files: IndexFile[] = [];
  let base: URL | undefined;
  let depth = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      depth += 1;
      if (depth > deepest) throw new SyntaxError(`more than ${deepest} of its elements are open at once`);
      if (tag === "base") base ??= addressOf(attributes.href, page);
      const url = tag === "a" ? addressOf(attributes.href, base ?? page) : undefined;
      const file = url && fileAt(url, attributes);
      if (file) files.push(file);
      if (files.length > mostFiles) throw tooMany();
    },
    onclosetag() {
      depth -= 1;
    },
  });
  for (let at = 0; at < text.length; at += pieceLength) {
    parser.write(text.slice(at, at + pieceLength));
    await othersFirst();
  }
  parser.end();
  return files;
}

function tooMany(): SyntaxError {
  return new SyntaxError(`it lists more than ${mostFiles} files`);
}

function isTooLong(filename: string): boolean {
  return Buffer.byteLength(filename) > longestFilename;
}

function fileAt(url: URL, attributes: Readonly<Record<string, string>>): IndexFile | undefined {
  const filename = lastName(url);
  if (filename === undefined || isTooLong(filename)) return undefined;
  const [, sha256] = /^#sha256=([0-9a-f]{64})\b/.exec(url.hash) ?? [];
  const metadata = attributes["data-core-metadata"] ?? attributes["data-dist-info-metadata"] ?? "";
  const [, metadataSha256] = /^sha256=([0-9a-f]{64})$/.exec(metadata) ?? [];
  const bare = new URL(url);
  bare.hash = "";
  return {
    filename,
    url: () => bare,
    sha256,
    metadataSha256,
    requiresPython: attributes["data-requires-python"],
    yanked: attributes["data-yanked"] !== undefined,
  };
}

/** The name of a file by its address, as the labels of pages are for people. */
function lastName({ pathname }: URL): string | undefined {
  try {
    return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)) || undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
