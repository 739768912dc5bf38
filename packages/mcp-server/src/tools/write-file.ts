import { posix } from "node:path";
import { type Sandbox, SandboxError } from "@sandkit/core";
import { z } from "zod";
import { markKnown } from "../changed-files.js";
import { fileUri } from "../resources/links.js";
import { invalid } from "../result/error-result.js";
import { introduction } from "../result/introduction.js";
import { size } from "../result/text.js";
import { checkSize, defineTool, sandboxId, type ToolCall } from "./tool.js";

export const writeFile = defineTool({
  name: "write_file",
  description: () =>
    "Write a text file in a sandbox; parents are made. With old_text, replaces exactly that piece of the file by content.",
  input: (context) =>
    z.strictObject({
      path: z.string().min(1, "must not be empty"),
      content: z.string(),
      old_text: z.string().min(1, "must not be empty; leave it out to write the whole file").optional(),
      sandbox_id: sandboxId(context),
    }),
  annotations: () => ({ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }),
  async run(input, call) {
    checkSize("content", input.content, call);
    const { path, content, old_text: oldText } = input;
    const used = await call.sandboxes.use(input.sandbox_id, call.making, async (sandbox, handle) => {
      const done =
        oldText === undefined
          ? await write(sandbox, path, content, call)
          : await edit(sandbox, { path, content, oldText }, call);
      markKnown(sandbox, path);
      call.changes.publish(fileUri(handle, posix.resolve(sandbox.workdir, path)));
      return done;
    });
    return {
      content: [{ type: "text", text: used.result + introduction(used) }],
      _meta: { "sandkit/run": { sandbox: used.handle } },
    };
  },
});

async function write(sandbox: Sandbox, path: string, content: string, call: ToolCall): Promise<string> {
  await sandbox.files.write(path, content, { signal: call.signal });
  return `Wrote ${size(Buffer.byteLength(content))} to ${path}.`;
}

interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly content: string;
}

/** Replaces the one place where the old text stands; a change by someone else in between is a `CONFLICT`. */
async function edit(sandbox: Sandbox, { path, oldText, content }: Edit, call: ToolCall): Promise<string> {
  const { modifiedAt } = await sandbox.files.stat(path);
  const text = await sandbox.files.readText(path, { maxBytes: call.config.maxInputBytes, signal: call.signal });
  const at = text.indexOf(oldText);
  if (at < 0) throw notThere(path, text, oldText);
  const places = linesOf(text, oldText);
  if (places.length > 1) {
    throw invalid(
      `write_file: old_text stands ${places.length} times in ${path} (lines ${places.slice(0, 10).join(", ")}): include more of the text around the one you mean`,
    );
  }
  const changed = text.slice(0, at) + content + text.slice(at + oldText.length);
  try {
    await sandbox.files.write(path, changed, { ifModifiedAt: modifiedAt, signal: call.signal });
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "CONFLICT") throw error;
    throw new SandboxError("CONFLICT", `${path} was changed meanwhile; nothing was written: read it again, then edit`, {
      cause: error,
    });
  }
  return `Edited ${path} at line ${places[0]}: ${size(Buffer.byteLength(changed))} now.`;
}

function notThere(path: string, text: string, oldText: string): SandboxError {
  const sameButForSpace = squeeze(text).includes(squeeze(oldText));
  const hint = sameButForSpace ? "it differs only in white space" : "it may have changed";
  return invalid(`write_file: old_text is not in ${path} (${hint}): read_file it and copy the text exactly`);
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** The lines at which a text stands, overlaps included. */
function linesOf(text: string, part: string): number[] {
  const lines: number[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    line += text.slice(counted, at).split("\n").length - 1;
    counted = at;
    lines.push(line);
  }
  return lines;
}
