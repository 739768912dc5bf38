import type { HostApi } from "./host-api.js";
import { bytesOf } from "./shims.js";

/** Stack traces show no frames of the host and cannot be hooked to reach them. */
export function lockErrors(): void {
  Object.defineProperty(globalThis, "Error", { value: Error, writable: false, configurable: false });
  // Traces would name the host's files. As an accessor it takes none, and code that sets it goes on.
  Object.defineProperty(Error, "stackTraceLimit", { get: () => 0, set: () => undefined, configurable: false });
  Object.defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
}

const RealmError = Error;

/** Calls the host; an error of its own becomes one of the realm. */
export function guard<Result>(action: () => Result): Result {
  try {
    return action();
  } catch {
    // The host's error is an object of its realm: not even its message may pass.
    throw new RealmError("host call failed");
  }
}

/**
 * Host functions behind functions of the realm: arguments become plain primitives and real byte views before they
 * leave, and an error of the host becomes one of the realm.
 */
export function seal(host: HostApi): HostApi {
  const view = (bytes: Uint8Array | null) => (bytes === null ? null : bytesOf(bytes));
  return {
    call: (operation, args, data, send) => {
      const text = [`${operation}`, `${args}`] as const;
      const bytes = view(data);
      return guard(() => host.call(text[0], text[1], bytes, !!send));
    },
    write: (stream, bytes) => {
      const [number, plain] = [+stream, bytesOf(bytes)] as const;
      return guard(() => host.write(number, plain));
    },
    sleep: (ms) => {
      const number = +ms;
      guard(() => host.sleep(number));
    },
    signals: (buffer) => guard(() => host.signals(buffer)),
    restore: (memory) => guard(() => host.restore(memory)),
    random: (bytes) => {
      const plain = bytesOf(bytes);
      guard(() => host.random(plain));
    },
    now: () => guard(() => host.now()),
    decode: (encoding, fatal, ignoreBom, bytes) => {
      const [name, plain] = [`${encoding}`, bytesOf(bytes)] as const;
      return guard(() => host.decode(name, !!fatal, !!ignoreBom, plain));
    },
    encode: (text, target) => {
      const [plain, bytes] = [`${text}`, bytesOf(target)] as const;
      return guard(() => host.encode(plain, bytes));
    },
    timer: (id, ms) => {
      const [number, delay] = [+id, +ms] as const;
      guard(() => host.timer(number, delay));
    },
    log: (text) => {
      const plain = `${text}`;
      guard(() => host.log(plain));
    },
  };
}
