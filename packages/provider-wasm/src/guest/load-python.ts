import type { Pyodide } from "./emscripten.js";
import type { HostApi } from "./host-api.js";

/** What Pyodide is loaded from. Buffers are of this realm; the module is the one object that is not. */
export interface PythonAssets {
  /** Pyodide's module factory, the completion value of its script in this realm. */
  readonly create: (settings: Settings) => Promise<EmscriptenModule>;
  readonly module: WebAssembly.Module;
  readonly stdlib: Uint8Array;
  /** A lock file that names no packages. */
  readonly lock: string;
  readonly restore: boolean;
  /** 64 KiB pages to add before the snapshot is copied in. */
  readonly growPages: number;
}

interface Settings {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

interface EmscriptenModule {
  readonly HEAPU8: Uint8Array;
  readonly API: { restoreSnapshot(snapshot: Uint8Array): unknown };
}

interface LoaderGlobals {
  loadPyodide?: (options: Record<string, unknown>) => Promise<Pyodide>;
  fetch?: (url: unknown) => Promise<unknown>;
}

const home = "/home/user";

/** Runs Pyodide's own loader against the assets, with every way to fetch anything else removed. */
export async function loadPython(host: HostApi, assets: PythonAssets): Promise<Pyodide> {
  const realm = globalThis as LoaderGlobals;
  const load = realm.loadPyodide;
  if (!load) throw new Error("Pyodide's loader has not run in this realm");
  realm.fetch = async (url) => {
    if (`${url}`.endsWith(".zip")) return { ok: true, arrayBuffer: async () => assets.stdlib.buffer };
    return new Promise(() => undefined);
  };
  const timers = Object.assign(Object.create(null), { setTimeout, clearTimeout, setInterval, clearInterval });
  const pyodide = await load({
    indexURL: "file:///python/",
    packageBaseUrl: "file:///python/",
    stdLibURL: "file:///python/python_stdlib.zip",
    lockFileContents: assets.lock,
    createPyodideModule: (settings: Settings) => instantiate(host, assets, settings),
    jsglobals: timers,
    env: { HOME: home },
    ...(assets.restore ? { _loadSnapshot: new Uint8Array(16) } : { _makeSnapshot: true }),
  });
  delete realm.fetch;
  delete realm.loadPyodide;
  return pyodide;
}

/** Emscripten's module over our compiled code. The module is taken once, and by then it has the realm's prototype. */
async function instantiate(host: HostApi, assets: PythonAssets, settings: Settings): Promise<EmscriptenModule> {
  let module: WebAssembly.Module | undefined = assets.module;
  settings.instantiateWasm = (imports, done) => {
    if (!module) throw new Error("the interpreter is instantiated already");
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
    const marker = Symbol("error marker");
    Object.assign(
      imports.env ?? {},
      errorMarker() ?? {
        Jsv_GetError_import: () => marker,
        JsvError_Check: (value: unknown) => value === marker,
      },
    );
    const instance = new WebAssembly.Instance(module, imports);
    if (assets.growPages > 0) (instance.exports.memory as WebAssembly.Memory).grow(assets.growPages);
    const taken = module;
    module = undefined;
    // Emscripten expects its callback after this function has returned.
    Promise.resolve().then(() => done(instance, taken));
    return {};
  };
  const python = await assets.create(settings);
  if (assets.restore) {
    python.API.restoreSnapshot = () => JSON.parse(host.restore(python.HEAPU8)) as unknown;
  }
  return python;
}

/** The tiny module by which Pyodide's loader makes its error marker where WebAssembly has GC; copied from that loader. */
const errorMarkerWasm =
  "0061736d01000000010c035f006000016f60016f017f0303020102072802134a73765f4765744572726f725f69" +
  "6d706f727400000e4a73764572726f725f436865636b00010a13020700fb0100fb1b0b09002000fb1afb14000b";

function errorMarker(): WebAssembly.Exports | undefined {
  const bytes = new Uint8Array(errorMarkerWasm.length / 2).map((_, index) =>
    Number.parseInt(errorMarkerWasm.slice(index * 2, index * 2 + 2), 16),
  );
  return WebAssembly.validate(bytes) ? new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports : undefined;
}
