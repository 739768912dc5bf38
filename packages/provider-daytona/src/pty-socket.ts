import type { PtyHandle } from "@daytonaio/sdk";

/** Of the WebSocket that the SDK's handle of a terminal holds: what the handle itself does not let one do. */
export interface PtySocket {
  /** Calls back once the bytes have left this program. */
  send(data: Uint8Array, done: (error?: Error) => void): void;
  /** Reads no more from the connection, until `resume`. */
  pause(): void;
  resume(): void;
  /** Whether the connection alone keeps this program alive. */
  refer(how: "ref" | "unref"): void;
}

/** The socket of a handle; undefined in a version of the SDK that holds it otherwise, where the handle has to do. */
export function ptySocket(handle: PtyHandle): PtySocket | undefined {
  const socket: unknown = Reflect.get(handle, "ws");
  if (!isSocket(socket)) return undefined;
  return {
    send: (data, done) => socket.send(data, done),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    refer(how) {
      const transport: unknown = Reflect.get(socket, "_socket");
      if (typeof transport === "object" && transport !== null && how in transport) {
        Reflect.apply(Reflect.get(transport, how), transport, []);
      }
    },
  };
}

/** What we need of the class WebSocket of the package `ws`. */
type RawSocket = Omit<PtySocket, "refer">;

function isSocket(value: unknown): value is RawSocket {
  if (typeof value !== "object" || value === null) return false;
  return ["send", "pause", "resume"].every((name) => typeof Reflect.get(value, name) === "function");
}
