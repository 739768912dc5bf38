import type { Downloader } from "./download.js";
import { DownloadError, shown } from "./download.js";
import { packageError } from "./errors.js";

/** One file that an index offers. */
export interface IndexFile {
  readonly filename: string;
  readonly url: URL;
  /** Absent where the index gives none: such a file is never taken. */
  readonly sha256?: string | undefined;
  /** Of the metadata beside the file. */
  readonly metadataSha256?: string | undefined;
  readonly requiresPython?: string | undefined;
  readonly yanked: boolean;
}

const largestPage = 64 * 1024 * 1024;
const accept =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1, application/json;q=0.1";
const hash = /^[0-9a-f]{64}$/;

/** Asks an index of PEP 503 or PEP 691 for the files of one package; undefined when it knows no such package. */
export async function filesOf(
  downloader: Downloader,
  indexUrl: URL,
  name: string,
  signal: AbortSignal | undefined,
): Promise<IndexFile[] | undefined> {
  const page = new URL(`${name}/`, withSlash(indexUrl));
  try {
    const { url, contentType, bytes } = await downloader.get(page, { accept, maxBytes: largestPage, signal });
    return /json/.test(contentType) ? fromJson(bytes.toString(), url) : fromHtml(bytes.toString(), url);
  } catch (error) {
    if (error instanceof DownloadError && (error.status === 404 || error.status === 410)) return undefined;
    if (error instanceof DownloadError) throw packageError("UNAVAILABLE", name, `the index: ${error.message}`, error);
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    const reason = `${shown(page)} is no page of an index: ${error.message}: check indexUrl`;
    throw packageError("UNAVAILABLE", name, reason, error);
  }
}

/** An address below which names are looked up. */
export function withSlash(url: URL): URL {
  return url.pathname.endsWith("/") ? url : new URL(`${url.pathname}/`, url);
}

type Json = Readonly<Record<string, unknown>>;

function fromJson(text: string, page: URL): IndexFile[] {
  const { files } = JSON.parse(text) as { files?: unknown };
  if (!Array.isArray(files)) throw new SyntaxError("it lists no files");
  return files.flatMap((file: Json) => {
    const { filename, url, hashes, yanked } = file;
    if (typeof filename !== "string" || typeof url !== "string") return [];
    const metadata = file["core-metadata"] ?? file["dist-info-metadata"];
    return [
      {
        filename,
        url: new URL(url, page),
        sha256: hashIn(hashes),
        metadataSha256: hashIn(metadata),
        requiresPython: textOf(file["requires-python"]),
        yanked: yanked !== undefined && yanked !== false,
      },
    ];
  });
}

function hashIn(hashes: unknown): string | undefined {
  const value = typeof hashes === "object" && hashes !== null ? (hashes as Json).sha256 : undefined;
  return typeof value === "string" && hash.test(value) ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function fromHtml(text: string, page: URL): IndexFile[] {
  const anchors = text.matchAll(/<a\s([^<>]*)>([^<]*)<\/a>/gi);
  return [...anchors].flatMap(([, written = "", label = ""]) => {
    const attributes = Object.fromEntries(
      [...written.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g)].map(([, name = "", double, single]) => [
        name.toLowerCase(),
        plainText(double ?? single ?? ""),
      ]),
    );
    if (!attributes.href) return [];
    const url = new URL(attributes.href, page);
    const [, sha256] = /^#sha256=([0-9a-f]{64})\b/.exec(url.hash) ?? [];
    url.hash = "";
    const metadata = attributes["data-core-metadata"] ?? attributes["data-dist-info-metadata"] ?? "";
    const [, metadataSha256] = /^sha256=([0-9a-f]{64})$/.exec(metadata) ?? [];
    return [
      {
        filename: plainText(label.trim()),
        url,
        sha256,
        metadataSha256,
        requiresPython: attributes["data-requires-python"],
        yanked: attributes["data-yanked"] !== undefined,
      },
    ];
  });
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };

function plainText(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}
