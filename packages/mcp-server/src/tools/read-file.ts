import type { CallToolResult } from "@modelcontextprotocol/server";
import type { FileInfo, Sandbox } from "@sandkit/core";
import * as z from "zod";
import { linkTo } from "../resources/links.js";
import { invalid } from "../result/error-result.js";
import { ImageTray, imageTypeOf } from "../result/images.js";
import { shownPath } from "../result/shown-path.js";
import { size } from "../result/text.js";
import { readLines } from "../text-lines.js";
import { defineTool, sandboxId, type ToolCall } from "./tool.js";

/** Entries of one listing. */
const maxEntries = 500;
const sniffedBytes = 8192;

// A bound of its own keeps the largest safe integer out of the published schema.
const lineCount = z.int().min(1, "counts from 1").max(1e9, "at most 1000000000");

type Range = { readonly offset: number; readonly limit: number };

export const readFile = defineTool({
  name: "read_file",
  description: () => "Read a text file by lines, show an image, or list a directory of a sandbox.",
  input: (context) =>
    z.strictObject({
      path: z.string().min(1, "must not be empty"),
      offset: lineCount.meta({ description: "First line, from 1" }).optional(),
      limit: lineCount.meta({ description: "Number of lines" }).optional(),
      sandbox_id: sandboxId(context),
    }),
  annotations: () => ({ readOnlyHint: true, openWorldHint: false }),
  check({ sandbox_id: id }, { implicit }) {
    if (id === undefined && implicit === "fresh") {
      throw invalid("read_file: sandbox_id is missing: pass the one that the run or write_file before it returned");
    }
  },
  act: ({ path }) => ({ act: "read a file", text: path, parameter: "path", changes: false }),
  async run(input, call) {
    const range = { offset: input.offset ?? 1, limit: input.limit ?? Number.POSITIVE_INFINITY };
    const used = await call.sandboxes.use(input.sandbox_id, call.making, async (sandbox, handle) => {
      const info = await sandbox.files.stat(input.path);
      if (info.type === "directory") return [textBlock(await listing(sandbox, input.path))];
      return await fileContent({ sandbox, handle, info, path: input.path }, range, call);
    });
    return { content: used.result, _meta: { "sandkit/run": { sandbox: used.handle } } };
  },
});

type Content = CallToolResult["content"];

function textBlock(text: string): Content[number] {
  return { type: "text", text };
}

async function listing(sandbox: Sandbox, path: string): Promise<string> {
  const entries = await sandbox.files.list(path, { limit: maxEntries + 1 });
  const lines = entries.slice(0, maxEntries).map(describeEntry);
  if (entries.length > maxEntries) lines.push(`[... more than ${maxEntries} entries: list a part of it with code ...]`);
  const count = lines.length === 0 ? "empty" : lines.length === 1 ? "1 entry" : `${lines.length} entries`;
  return [`${path} (directory, ${count})`, ...lines].join("\n");
}

function describeEntry(info: FileInfo): string {
  const name = shownPath(info.path.slice(info.path.lastIndexOf("/") + 1));
  if (info.type === "directory") return `${name}/`;
  if (info.type === "symlink") return `${name} -> ${shownPath(info.symlinkTarget ?? "?")}`;
  return `${name}  ${size(info.size)}`;
}

interface Asked {
  readonly sandbox: Sandbox;
  readonly handle: string;
  readonly info: FileInfo;
  readonly path: string;
}

async function fileContent({ sandbox, handle, info, path }: Asked, range: Range, call: ToolCall): Promise<Content> {
  const { signal, config } = call;
  // A client may hand on what a model cannot read.
  const isInside = info.path.startsWith(`${sandbox.workdir}/`);
  const link = () => (call.links && isInside ? [linkTo(handle, info)] : []);
  const start = await sandbox.files.read(path, { length: sniffedBytes, signal });
  const imageType = imageTypeOf(start);
  if (imageType !== undefined) {
    const tray = new ImageTray(config);
    // One byte above the limit tells that it is too large without reading it all.
    const bytes = await sandbox.files.read(path, { length: config.maxImageBytes + 1, signal });
    const problem = tray.add(Buffer.from(bytes).toString("base64"), imageType);
    const described = `${path} (${imageType}, ${size(info.size)})`;
    return problem === undefined ? [textBlock(described), ...tray.blocks] : [textBlock(problem), ...link()];
  }
  const lines = start.includes(0)
    ? undefined
    : await readLines(await sandbox.files.readStream(path, { signal }), range, config.outputChars);
  if (lines === undefined) return [textBlock(describeBinary(path, info, start)), ...link()];
  return [textBlock(`${path} ${lines.summary}\n${lines.text}`)];
}

function describeBinary(path: string, info: FileInfo, start: Uint8Array): string {
  const hex = Buffer.from(start.subarray(0, 32)).toString("hex").replaceAll(/../g, "$& ").trim();
  return `${path} is a binary file of ${size(info.size)}, changed ${info.modifiedAt.toISOString()}. It begins with: ${hex}. Read it with code, for example run_code.`;
}
