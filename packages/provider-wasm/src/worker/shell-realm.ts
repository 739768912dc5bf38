import vm from "node:vm";
import { gunzipSync, gzipSync } from "node:zlib";
import type { ShellHost } from "../guest/host-api.js";
import type { ShellRealm } from "../guest/shell/main.js";
import { primitives, viewOf } from "./realm-host.js";

/** A realm with the shell in it. */
export interface OpenShellRealm {
  readonly shell: ShellRealm;
  /** The realm's global object, for looking at it from outside. */
  readonly global: object;
  /** V8's cache of what has run so far. */
  cache(): Uint8Array;
}

/** What decompression may make of a few bytes. */
const largestResult = 128 * 1024 * 1024;

/** A context as that of Python, without WebAssembly: just-bash has no business outside of it. */
export function openShellRealm(
  source: string,
  link: Pick<ShellHost, "call" | "write">,
  cache?: Uint8Array,
): OpenShellRealm {
  // Absent before Node 22.8: there a null-prototype object is what gets a context of its own.
  const withoutGlobal = vm.constants.DONT_CONTEXTIFY as unknown as object | undefined;
  const context = vm.createContext(withoutGlobal ?? Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
  });
  const script = new vm.Script(source, { filename: "shell.js", cachedData: cache && Buffer.from(cache) });
  const enter = script.runInContext(context) as (host: ShellHost) => ShellRealm;
  const refuse = () => {
    throw new Error("the shell has no use for it");
  };
  const shell = enter({
    ...primitives((id) => shell.fire(id)),
    ...compression(),
    call: (operation, args, data, send) => link.call(operation, args, data && viewOf(data), send),
    write: (stream, bytes) => link.write(stream, viewOf(bytes)),
    sleep: refuse,
    signals: refuse,
    restore: refuse,
    log: () => undefined,
  });
  return {
    shell,
    global: vm.runInContext("globalThis", context) as object,
    cache: () => script.createCachedData(),
  };
}

function compression(): Pick<ShellHost, "compress" | "takeCompressed"> {
  let result: Uint8Array | undefined;
  return {
    compress(kind, bytes) {
      const work = kind === "gzip" ? gzipSync : gunzipSync;
      try {
        result = work(viewOf(bytes), { maxOutputLength: largestResult });
        return result.length;
      } catch {
        // Damaged or too large: the realm says so in its own words.
        return -1;
      }
    },
    takeCompressed(target) {
      viewOf(target).set(result ?? []);
      result = undefined;
    },
  };
}
