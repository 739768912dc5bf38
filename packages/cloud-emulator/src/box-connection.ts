import { Duplex } from "node:stream";
import { messageOf, SandboxError } from "@sandkit/core";
import type { Helper } from "./helper.js";

/**
 * A connection to a server in a box, over the helper that holds it.
 * @returns null when nothing listens there
 */
export async function boxConnection(helper: Helper): Promise<Duplex | null> {
  const { output } = helper;
  const first = await output.next();
  // The helper says one byte once it is connected.
  if (first.done) return null;
  let rest: Uint8Array | undefined = first.value.subarray(1);
  const pull = async (connection: Duplex) => {
    const { done, value } = rest?.length ? { done: false, value: rest } : await output.next();
    rest = undefined;
    connection.push(done ? null : Buffer.from(value));
  };
  const acts = (act: () => Promise<void>, settled: (error?: Error) => void) => {
    act().then(
      () => settled(),
      (error) =>
        settled(new SandboxError("TRANSPORT", `connection into the box: ${messageOf(error)}`, { cause: error })),
    );
  };
  return new Duplex({
    read() {
      acts(
        () => pull(this),
        (error) => error && this.destroy(error),
      );
    },
    write: (chunk, _, done) => acts(() => helper.write(chunk), done),
    final: (done) => acts(() => helper.end(), done),
    destroy: (error, done) => {
      // A helper that has gone with its box needs no end.
      helper.kill().catch(() => undefined);
      done(error);
    },
  });
}
