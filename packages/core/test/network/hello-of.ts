import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** What a real client of TLS says first to a server of this name. */
export function helloOf(servername: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        resolve(chunk);
        done();
        wire.destroy();
      },
    });
    connect({ socket: wire, ...(servername && { servername }) }).on("error", () => wire.destroy());
  });
}
