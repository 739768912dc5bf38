import { Readable } from "node:stream";
import type { Sandbox } from "@daytonaio/sdk";
import type { BulkFiles } from "@sandkit/core/kit";
import { onDaytona } from "./call.js";
import { type CallContext, daytonaError, refusal } from "./errors.js";

/** Below this the agent is faster than a request of its own. */
const fromBytes = 1024 * 1024;
/** Longest that one file may take, in seconds. */
const timeout = 60 * 60;
/** What is kept of a download that nobody has taken yet. */
const mostKeptBytes = 1024 * 1024;
/** Names that come back in a header as they were sent: by others the SDK does not find what it asked for. */
const plainName = /^[\x20-\x7e]+$/;

/** Large files by the SDK's streams. */
export function bulkFiles(sandbox: Sandbox): BulkFiles {
  const about = (operation: string, path: string): CallContext => ({
    operation,
    subject: `${JSON.stringify(path)} in sandbox ${sandbox.id}`,
    sandboxId: sandbox.id,
  });
  return {
    fromBytes,
    async read(path, signal) {
      const context = about("files.read", path);
      if (!plainName.test(path) || /["\\]/.test(path)) {
        throw refusal("UNSUPPORTED", `${context.subject}: Daytona's downloads do not take the name`, context.operation);
      }
      const options = { timeout, ...(signal && { signal }) };
      const source = await onDaytona(context, () => sandbox.fs.downloadFileStream(path, options), signal);
      return streamOf(source, context);
    },
    async write(path, data, signal) {
      // A stream or bytes, never a string: that would be the path of a file on this machine.
      const source = Readable.from(data);
      const options = { timeout, ...(signal && { signal }) };
      try {
        await onDaytona(about("files.write", path), () => sandbox.fs.uploadFileStream(source, path, options), signal);
      } finally {
        source.destroy();
      }
    },
  };
}

/** The bytes of a download; its failures as ours. What comes in one go is passed on so: a turn for each piece costs. */
function streamOf(source: Readable, context: CallContext): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let over = false;
        const once = (finish: () => void) => () => {
          if (!over) finish();
          over = true;
        };
        const fail = (reason: unknown) => once(() => controller.error(daytonaError(reason, context)))();
        source.on("data", (piece: Uint8Array) => {
          if (over) return;
          controller.enqueue(piece);
          if ((controller.desiredSize ?? 1) <= 0) source.pause();
        });
        source.on(
          "end",
          once(() => controller.close()),
        );
        source.on("error", fail);
        source.on("close", () => fail(new Error("the download was closed before its end")));
      },
      pull() {
        source.resume();
      },
      cancel() {
        source.destroy();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostKeptBytes }),
  );
}
