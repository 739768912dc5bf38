import { createBrokerFiles } from "./broker-files.js";
import type { HostApi } from "./host-api.js";
import { loadPython, type PythonAssets } from "./load-python.js";
import { lockErrors, seal } from "./seal.js";
import { installGlobals } from "./shims.js";

/** What the worker may call in the realm. It hands over primitives and buffers made by `allocate`, nothing else. */
export interface Realm {
  allocate(length: number): Uint8Array;
  fire(id: number): void;
  /** Loads the interpreter from its assets, with `restore` from the snapshot. Once. */
  load(assets: PythonAssets): Promise<void>;
  /** Writes the driver into the fresh interpreter and imports what every program needs, for the snapshot. */
  prepare(modules: string, warmUp: string): void;
  /** The memory of the prepared interpreter, in Pyodide's snapshot format. */
  snapshot(): Uint8Array;
  /** Connects files, streams and signals to the broker, then runs jobs until the broker ends this worker. */
  run(): void;
}

/** Closes the realm around the guest. Runs first of all scripts in it, and is the only one that sees the host. */
export function enterRealm(untrusted: HostApi): Realm {
  const host = seal(untrusted);
  lockErrors();
  const { fire } = installGlobals(host);
  let python: Awaited<ReturnType<typeof loadPython>> | undefined;
  const loaded = () => {
    if (!python) throw new Error("the interpreter is not loaded");
    return python;
  };
  return Object.freeze({
    allocate: (length: number) => new Uint8Array(length),
    fire,
    async load(assets: PythonAssets) {
      if (python) throw new Error("the interpreter is loaded already");
      python = await loadPython(host, assets);
    },
    prepare(modules: string, warmUp: string) {
      const { FS, runPython } = loaded();
      for (const [path, source] of Object.entries(JSON.parse(modules) as Record<string, string>)) {
        FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
        FS.writeFile(path, source);
      }
      runPython(warmUp);
    },
    snapshot: () => loaded().makeMemorySnapshot(),
    run() {
      const running = loaded();
      createBrokerFiles(running, host);
      connectStreams(running, host);
      connectSignals(running, host);
      running._api.on_fatal = (error) => host.call("fatal", JSON.stringify([`${error}`.slice(0, 400)]), null, false);
      const driver = running.pyimport("_sandkit.main");
      driver.run(
        (operation: string, args: string) => host.call(operation, args, null, false),
        (ms: number) => host.sleep(ms),
        (operation: string, args: string, buffer: PyBuffer, send: boolean) => {
          const view = buffer.getBuffer("u8");
          try {
            return host.call(operation, args, view.data, send);
          } finally {
            view.release();
          }
        },
      );
    },
  });
}

/** Bytes of the interpreter's, as Pyodide hands them over for the time of a call. */
interface PyBuffer {
  getBuffer(type: "u8"): { readonly data: Uint8Array; release(): void };
}

type Python = Awaited<ReturnType<typeof loadPython>>;

function connectStreams(python: Python, host: HostApi): void {
  // Python turns EINTR into a check for signals and then tries again.
  const interrupted = () => Object.assign(new Error("interrupted"), { code: "EINTR" });
  const output = (stream: number) => ({
    isatty: false,
    write(bytes: Uint8Array) {
      if (!host.write(stream, bytes)) throw interrupted();
      return bytes.length;
    },
  });
  python.setStdout(output(1));
  python.setStderr(output(2));
  python.setStdin({
    isatty: false,
    read(bytes: Uint8Array) {
      const count = JSON.parse(host.call("stdin", JSON.stringify([bytes.length]), bytes, false)) as number;
      if (count < 0) throw interrupted();
      return count;
    },
  });
}

/** Pyodide reads signal numbers from a view of the realm's own; the worker passes the memory on to the broker. */
function connectSignals(python: Python, host: HostApi): void {
  const buffer = new SharedArrayBuffer(8);
  const view = new Int32Array(buffer, 0, 1);
  // Pyodide reads the number and then writes 0: a signal that came in between would be lost. Reading takes it instead.
  python.setInterruptBuffer({
    get 0() {
      return Atomics.exchange(view, 0, 0);
    },
    set 0(_taken) {},
  });
  host.signals(buffer);
}
