import { webcrypto } from "node:crypto";
import { fstatSync } from "node:fs";
import vm from "node:vm";
import type { HostApi } from "../guest/host-api.js";
import type { PythonAssets } from "../guest/load-python.js";
import type { Realm } from "../guest/realm.js";
import { readFully } from "../read-fully.js";

/** The scripts that make a realm, in source and, where there is one, in V8's cache form. */
export interface RealmScripts {
  /** Our own code, bundled; its completion value is `enterRealm`. */
  readonly realm: string;
  readonly loader: string;
  readonly runtime: string;
}

export type ScriptCaches = { readonly [Name in keyof RealmScripts]?: Uint8Array };

/** A realm with Pyodide's scripts run in it, and not yet an interpreter. */
export interface OpenRealm {
  readonly realm: Realm;
  /** The realm's global object, for looking at it from outside. */
  readonly global: object;
  readonly create: PythonAssets["create"];
  /** Caches of what has run so far, for workers to come. */
  caches(): ScriptCaches;
}

/**
 * A context without string code generation whose global object has no link to this realm. Everything in it is made by
 * the guest's own intrinsics; only {@link HostApi} leads out.
 */
export function openRealm(
  scripts: RealmScripts,
  link: Pick<HostApi, "call" | "write" | "sleep" | "signals" | "restore" | "log">,
  caches: ScriptCaches = {},
): OpenRealm {
  // Absent before Node 22.8: there a null-prototype object is what gets a context of its own.
  const withoutGlobal = vm.constants.DONT_CONTEXTIFY as unknown as object | undefined;
  const context = vm.createContext(withoutGlobal ?? Object.create(null), {
    codeGeneration: { strings: false, wasm: true },
  });
  const compile = (name: keyof RealmScripts) =>
    new vm.Script(scripts[name], { filename: `${name}.js`, cachedData: caches[name] && Buffer.from(caches[name]) });
  const [own, loader, runtime] = [compile("realm"), compile("loader"), compile("runtime")];
  const enter = own.runInContext(context) as (host: HostApi) => Realm;
  const realm = enter({
    ...link,
    call: (operation, args, data, send) => link.call(operation, args, data && viewOf(data), send),
    write: (stream, bytes) => link.write(stream, viewOf(bytes)),
    restore: (memory) => link.restore(viewOf(memory)),
    ...primitives((id) => realm.fire(id)),
  });
  loader.runInContext(context);
  const create = runtime.runInContext(context) as PythonAssets["create"];
  return {
    realm,
    global: context,
    create,
    caches: () => ({
      realm: own.createCachedData(),
      loader: loader.createCachedData(),
      runtime: runtime.createCachedData(),
    }),
  };
}

/** The content of an open file in memory of the realm's own. Only for a realm in which no guest has run. */
export function readInto(realm: Realm, file: number): Uint8Array {
  const copy = realm.allocate(fstatSync(file).size);
  readFully(file, viewOf(copy), 0);
  return copy;
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
const [bufferOf, offsetOf, lengthOf] = (["buffer", "byteOffset", "byteLength"] as const).map((name) => {
  const { get } = Object.getOwnPropertyDescriptor(typedArray, name) ?? {};
  return (bytes: Uint8Array): unknown => get?.call(bytes);
}) as [(bytes: Uint8Array) => ArrayBuffer, (bytes: Uint8Array) => number, (bytes: Uint8Array) => number];

/**
 * This realm's view of the guest's bytes. The guest can replace every method and getter of its own typed arrays, and
 * one that is called from here could be handed objects of this realm: of a guest's view only the slots are used.
 * @throws TypeError for what is no typed array
 */
export function viewOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bufferOf(bytes), offsetOf(bytes), lengthOf(bytes));
}

/** What a realm needs that is no way out of it. */
export function primitives(
  fire: (id: number) => void,
): Pick<HostApi, "random" | "now" | "decode" | "encode" | "timer"> {
  const decoders = new Map<string, InstanceType<typeof TextDecoder> | 0>();
  const encoder = new TextEncoder();
  return {
    random(bytes) {
      const view = viewOf(bytes);
      // Refuses more than 64 KiB at a time.
      for (let start = 0; start < view.length; start += 65_536) {
        webcrypto.getRandomValues(view.subarray(start, start + 65_536));
      }
    },
    now: () => performance.now(),
    decode(encoding, fatal, ignoreBom, bytes) {
      const key = `${encoding} ${fatal} ${ignoreBom}`;
      let decoder = decoders.get(key);
      if (decoder === undefined) {
        decoder = makeDecoder(encoding, fatal, ignoreBom);
        if (decoders.size < 100) decoders.set(key, decoder);
      }
      if (decoder === 0) return 0;
      try {
        // A copy: the decoder refuses shared memory, and must not see bytes that change under it.
        return decoder.decode(viewOf(bytes).slice());
      } catch (error) {
        if (error instanceof TypeError) return null;
        throw error;
      }
    },
    encode: (text, target) => encoder.encodeInto(text, viewOf(target)).written,
    timer(id, ms) {
      setTimeout(() => fire(id), ms);
    },
  };
}

function makeDecoder(encoding: string, fatal: boolean, ignoreBOM: boolean): InstanceType<typeof TextDecoder> | 0 {
  try {
    return new TextDecoder(encoding, { fatal, ignoreBOM });
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}
