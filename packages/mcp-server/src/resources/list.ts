import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
} from "@modelcontextprotocol/server";
import { type FileInfo, type Sandbox, SandboxError } from "@sandkit/core";
import { interestingFiles } from "../interesting-files.js";
import { mediaTypeOf } from "../media-type.js";
import { report } from "../report.js";
import type { Runs } from "../runs/runs.js";
import type { Sandboxes } from "../sandboxes.js";
import { within } from "../within.js";
import { fileUri, logUri } from "./links.js";

/** Resources of one page. */
const pageSize = 100;
/** How long one sandbox may take to say what it has, in milliseconds. */
const lookMs = 2_000;

export interface ListContext {
  readonly sandboxes: Sandboxes;
  readonly runs: Runs;
}

/**
 * What can be read now, a page of it: the logs of runs that outlast their call, then the files of the sandboxes that
 * this server holds, a few levels deep. It is no use of them: a client that asks often keeps none alive.
 * @throws ProtocolError for a cursor that this server did not give
 */
export async function listResources(
  cursor: string | undefined,
  { sandboxes, runs }: ListContext,
): Promise<ListResourcesResult> {
  const from = placeOf(cursor);
  const files = await Promise.all(sandboxes.held().map(({ handle, sandbox }) => filesIn(handle, sandbox)));
  const all = [
    ...runs
      .list()
      .filter(({ yielded }) => yielded)
      .map(logOf),
    ...files.flat(),
  ];
  const to = from + pageSize;
  return { resources: all.slice(from, to), ...(to < all.length ? { nextCursor: String(to) } : {}) };
}

function placeOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "this cursor was not given here: list from the beginning");
}

function logOf({ id, work }: ReturnType<Runs["list"]>[number]): Resource {
  return { uri: logUri(id, "output"), name: `${id} output`, description: work.title, mimeType: "text/plain" };
}

/** One that is frozen or gone has nothing to list; the next call that uses it says what became of it. */
async function filesIn(handle: string, sandbox: Sandbox): Promise<Resource[]> {
  if (sandbox.capabilities.features.files === false) return [];
  try {
    const files = await within(lookMs, "files.list", interestingFiles(sandbox));
    return files.sort(byPath).map((file) => fileOf(handle, file));
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    report(`the files of sandbox ${sandbox.ref.id} are not listed`, error);
    return [];
  }
}

function fileOf(handle: string, { path, size, modifiedAt }: FileInfo): Resource {
  const mimeType = mediaTypeOf(path);
  return {
    uri: fileUri(handle, path),
    name: path.slice(path.lastIndexOf("/") + 1),
    ...(mimeType === undefined ? {} : { mimeType }),
    size,
    annotations: { lastModified: modifiedAt.toISOString() },
  };
}

/** Pages must not overlap: the order does not depend on when it is asked for. */
function byPath(one: FileInfo, other: FileInfo): number {
  return one.path < other.path ? -1 : 1;
}
