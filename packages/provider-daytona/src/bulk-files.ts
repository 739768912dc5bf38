import { Readable } from "node:stream";
import type { Sandbox } from "@daytonaio/sdk";
import type { BulkFiles } from "@sandkit/core";
import { onDaytona } from "./call.js";
import { type CallContext, daytonaError, refusal } from "./errors.js";

/** Below this the agent is faster than a request of its own. */
const fromBytes = 1024 * 1024;
/** Longest that one file may take, in seconds. */
const timeout = 60 * 60;
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

/** The bytes of a download, pulled; its failures as ours. */
function streamOf(source: Readable, context: CallContext): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = source.iterator({ destroyOnReturn: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(daytonaError(error, context));
        }
      },
      cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
