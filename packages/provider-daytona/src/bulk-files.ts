import { Readable } from "node:stream";
import type { Sandbox } from "@daytonaio/sdk";
import { type BulkFiles, SandboxError } from "@sandkit/core";
import { onDaytona } from "./call.js";
import { daytonaError, providerName } from "./errors.js";

const mebibyte = 1024 * 1024;
/** Below this the agent is faster than a request of its own. */
const fromBytes = mebibyte;
/** Longest that one file may take, in seconds. */
const timeout = 60 * 60;

/** Large files by the SDK's streams. */
export function bulkFiles(sandbox: Sandbox): BulkFiles {
  const about = (operation: string, path: string) => ({
    operation,
    subject: `${JSON.stringify(path)} in sandbox ${sandbox.id}`,
    sandboxId: sandbox.id,
  });
  return {
    fromBytes,
    async read(path, signal) {
      const context = about("files.read", path);
      let expected: number | undefined;
      const source = await onDaytona(
        context,
        () =>
          sandbox.fs.downloadFileStream(path, {
            timeout,
            ...(signal && { signal }),
            onProgress: ({ totalBytes }) => {
              expected = totalBytes;
            },
          }),
        signal,
      );
      return whole(source, () => expected, context);
    },
    async write(path, data, signal) {
      // A stream or bytes, never a string: that would be the path of a file on this machine.
      const source = Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0]);
      try {
        await onDaytona(
          about("files.write", path),
          () => sandbox.fs.uploadFileStream(source, path, { timeout, ...(signal && { signal }) }),
          signal,
        );
      } finally {
        source.destroy();
      }
    },
  };
}

/** The bytes of a download; one that was cut off fails, where the SDK would take its end for the file's. */
function whole(
  source: Readable,
  expected: () => number | undefined,
  context: { readonly operation: string; readonly subject: string; readonly sandboxId: string },
): ReadableStream<Uint8Array> {
  const chunks = source.iterator({ destroyOnReturn: true });
  let received = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) {
            received += value.length;
            controller.enqueue(value);
            return;
          }
          const total = expected();
          if (total === undefined || total === received) controller.close();
          else controller.error(cutOff(received, total, context));
        } catch (error) {
          controller.error(daytonaError(error, context));
        }
      },
      async cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function cutOff(
  received: number,
  total: number,
  {
    operation,
    subject,
    sandboxId,
  }: { readonly operation: string; readonly subject: string; readonly sandboxId: string },
): SandboxError {
  const message = `${operation} ${subject}: cut off after ${received} of ${total} bytes: try again`;
  return new SandboxError("TRANSPORT", message, { provider: providerName, operation, sandboxId });
}
