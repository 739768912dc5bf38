import type { Duplex } from "node:stream";

type Written = (error?: Error | null) => void;

/** Breaks a connection once so many bytes have been written to it, the head of the answer not counted. */
export function cutSocket(socket: Duplex, afterBytes: number): void {
  const write = socket.write.bind(socket) as (data: Uint8Array, ...rest: unknown[]) => boolean;
  let head = true;
  let left = afterBytes;
  const counted = (data: string | Uint8Array, ...rest: unknown[]): boolean => {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    if (head) {
      head = false;
      return write(bytes, ...rest);
    }
    if (bytes.length < left) {
      left -= bytes.length;
      return write(bytes, ...rest);
    }
    const written = rest.find((one): one is Written => typeof one === "function");
    write(bytes.subarray(0, left), () => {
      socket.destroy();
      written?.(new Error(`the connection was broken after ${afterBytes} bytes`));
    });
    left = 0;
    return false;
  };
  Object.defineProperty(socket, "write", { value: counted });
}
