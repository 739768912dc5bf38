import type { HostApi } from "./host-api.js";

/**
 * The few web globals that Pyodide's loader asks for, made inside the realm over {@link HostApi}. The realm poses as a
 * web worker, so that every branch for Node (its files, its sockets, its processes) is dead code.
 */
export function installGlobals(host: HostApi): { readonly fire: (id: number) => void } {
  class TextDecoder {
    readonly #encoding: string;
    readonly #fatal: boolean;
    readonly #ignoreBom: boolean;

    constructor(encoding = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.#encoding = `${encoding}`.toLowerCase();
      this.#fatal = !!options.fatal;
      this.#ignoreBom = !!options.ignoreBOM;
    }

    get encoding(): string {
      return this.#encoding;
    }

    decode(input?: ArrayBuffer | ArrayBufferView): string {
      if (input === undefined) return "";
      const text = host.decode(this.#encoding, this.#fatal, this.#ignoreBom, bytesOf(input));
      if (text === null) throw new TypeError("The encoded data was not valid");
      if (text === 0) throw new RangeError(`unknown encoding: ${this.#encoding}`);
      return text;
    }
  }

  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }

    encode(text = ""): Uint8Array {
      const bytes = new Uint8Array(`${text}`.length * 3);
      return bytes.slice(0, host.encode(`${text}`, bytes));
    }

    encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
      return { read: text.length, written: host.encode(`${text}`, target) };
    }
  }

  // Those of Python run only while it loads: afterwards one blocking call holds the thread to its end.
  const timers = new Map<number, () => void>();
  let lastTimer = 0;
  const setTimeout = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): number => {
    lastTimer += 1;
    const id = lastTimer;
    timers.set(id, () => {
      timers.delete(id);
      callback(...args);
    });
    host.timer(id, +ms || 0);
    return id;
  };
  const clearTimeout = (id: number): void => {
    timers.delete(id);
  };

  class MessageChannel {
    readonly port1: { onmessage: ((event: { data: unknown }) => void) | null; start(): void } = {
      onmessage: null,
      start() {},
    };
    readonly port2 = {
      postMessage: (data: unknown) => {
        setTimeout(() => this.port1.onmessage?.({ data }));
      },
    };
  }

  class WorkerGlobalScope {}

  class URL {
    readonly href: string;

    constructor(url: unknown, base?: unknown) {
      const text = `${url}`;
      this.href = text.includes("://") || !base ? text : `${base}`.replace(/[^/]*$/, "") + text;
    }

    toString(): string {
      return this.href;
    }
  }

  const log = (...args: unknown[]): void => host.log(args.map((value) => `${value}`).join(" "));

  Object.assign(globalThis, {
    TextDecoder,
    TextEncoder,
    setTimeout,
    clearTimeout,
    setInterval: setTimeout,
    clearInterval: clearTimeout,
    MessageChannel,
    WorkerGlobalScope,
    URL,
    console: { log, warn: log, error: log, info: log, debug: log, trace: log },
    performance: { now: () => host.now() },
    crypto: {
      getRandomValues: <View extends ArrayBufferView>(view: View): View => {
        host.random(bytesOf(view));
        return view;
      },
    },
    location: new URL("file:///"),
    self: globalThis,
  });
  Object.setPrototypeOf(globalThis, WorkerGlobalScope.prototype);
  return { fire: (id) => timers.get(id)?.() };
}

const { isView } = ArrayBuffer;

/** The bytes behind any buffer or view. */
export function bytesOf(input: ArrayBuffer | ArrayBufferView): Uint8Array {
  return isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
}
