import { posix } from "node:path";
import { type Sandbox, SandboxError } from "@sandkit/core";
import * as z from "zod";
import { markKnown } from "../changed-files.js";
import { fileUri } from "../resources/links.js";
import { introduction } from "../result/introduction.js";
import { size } from "../result/text.js";
import { type Edit, edited } from "./edit-text.js";
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
  annotations: ({ touchesHost }) => ({
    readOnlyHint: false,
    destructiveHint: touchesHost,
    idempotentHint: true,
    openWorldHint: false,
  }),
  check: ({ content }, context) => checkSize("content", content, context),
  act: ({ content, old_text: oldText }) => ({
    act: oldText === undefined ? "write a file" : "replace a piece of a file",
    text: content,
    parameter: "content",
    changes: true,
  }),
  async run(input, call) {
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

/** Replaces the one place where the old text stands; a change by someone else in between is a `CONFLICT`. */
async function edit(sandbox: Sandbox, { path, ...change }: Edit & { path: string }, call: ToolCall): Promise<string> {
  const { modifiedAt } = await sandbox.files.stat(path);
  const text = await sandbox.files.readText(path, { maxBytes: call.config.maxInputBytes, signal: call.signal });
  const { changed, line } = edited(path, text, change);
  try {
    await sandbox.files.write(path, changed, { ifModifiedAt: modifiedAt, signal: call.signal });
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "CONFLICT") throw error;
    throw new SandboxError("CONFLICT", `${path} was changed meanwhile; nothing was written: read it again, then edit`, {
      cause: error,
    });
  }
  return `Edited ${path} at line ${line}: ${size(Buffer.byteLength(changed))} now.`;
}
