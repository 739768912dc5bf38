import { Writable } from "node:stream";

/**
 * Takes stdout for the protocol alone: what is returned writes to it, while `process.stdout.write` and the console
 * (of this program and of any package it loads) go to stderr.
 */
export function guardStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const wire = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      write(chunk, (error) => done(error));
    },
  });
  stdout.on("error", (error) => wire.destroy(error));
  stdout.write = stderr.write.bind(stderr);
  return wire;
}
