import type { CompleteRequest, CompleteResult } from "@modelcontextprotocol/server";
import { type Sandbox, SandboxError } from "@sandkit/core";
import type { Runs } from "../runs/runs.js";
import type { Sandboxes } from "../sandboxes.js";
import { confinedPath } from "./confined-path.js";
import { fileTemplate, logStreams, logTemplate } from "./links.js";
import { resourceError } from "./resource-error.js";

/** Most that one answer may hold, by the protocol. */
const maxValues = 100;
/** Entries of a directory that are looked at. */
const maxEntries = 2_000;

export interface CompleteContext {
  readonly sandboxes: Sandboxes;
  readonly runs: Runs;
  readonly signal: AbortSignal;
}

/** What an argument of a resource template may be, as far as it is written; of this caller's sandboxes and runs alone. */
export async function complete(params: CompleteRequest["params"], context: CompleteContext): Promise<CompleteResult> {
  const { ref, argument } = params;
  const values = ref.type === "ref/resource" ? await known(ref.uri, params, context) : [];
  const fitting = values.filter((value) => value.startsWith(argument.value));
  const shown = fitting.slice(0, maxValues);
  return { completion: { values: shown, total: fitting.length, hasMore: fitting.length > shown.length } };
}

async function known(template: string, params: CompleteRequest["params"], context: CompleteContext) {
  try {
    return await valuesOf(template, params, context);
  } catch (error) {
    // Somebody is still writing: what is not there yet has no completions.
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return [];
    throw resourceError(template, error, 0);
  }
}

async function valuesOf(
  template: string,
  { argument, context: given }: CompleteRequest["params"],
  { sandboxes, runs, signal }: CompleteContext,
): Promise<string[]> {
  if (template === logTemplate.uriTemplate) {
    return argument.name === "process" ? runs.list().map(({ id }) => id) : [...logStreams];
  }
  if (template !== fileTemplate.uriTemplate) return [];
  if (argument.name === "sandbox_id") return sandboxes.held().map(({ handle }) => handle);
  const handle = given?.arguments?.sandbox_id;
  if (argument.name !== "path" || handle === undefined) return [];
  return (await sandboxes.use(handle, { signal }, (sandbox) => pathsIn(sandbox, argument.value))).result;
}

/** What lies in the directory that the written part names; at the beginning, the working directory. */
async function pathsIn(sandbox: Sandbox, written: string): Promise<string[]> {
  const border = written.lastIndexOf("/");
  const directory = `/${written.slice(0, border + 1)}`;
  const partOfRoot = `${sandbox.workdir}/`.startsWith(`/${written}`);
  const from = partOfRoot ? sandbox.workdir : await confinedPath(sandbox, directory);
  const entries = await sandbox.files.list(from, { limit: maxEntries });
  const prefix = partOfRoot ? `${sandbox.workdir.slice(1)}/` : written.slice(0, border + 1);
  return entries.map(({ path, type }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return `${prefix}${name}${type === "directory" ? "/" : ""}`;
  });
}
