/**
 * The machine code of a WebAssembly module, kept and taken up again. Browsers do so with every module; Node has no call
 * for it, but V8 has one for its own tests. Where a later V8 has it no longer, there is simply no such code.
 */
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

/** The code that V8 has optimised so far, as bytes for the same V8; undefined where there is no way to it. */
export function serializeModule(module: WebAssembly.Module): Uint8Array | undefined {
  const bytes = intrinsic<(module: WebAssembly.Module) => ArrayBuffer>(
    "(module) { return %SerializeWasmModule(module); }",
  );
  const code = bytes?.(module);
  return code && new Uint8Array(code);
}

/** The module of `wasm` with that code; undefined when V8 does not take it. */
export function deserializeModule(code: Uint8Array, wasm: Uint8Array): WebAssembly.Module | undefined {
  const read = intrinsic<(code: ArrayBuffer, wasm: Uint8Array) => unknown>(
    "(code, wasm) { return %DeserializeWasmModule(code, wasm); }",
  );
  const buffer = new ArrayBuffer(code.length);
  new Uint8Array(buffer).set(code);
  const module = read?.(buffer, wasm);
  return module instanceof WebAssembly.Module ? module : undefined;
}

/** A function in V8's own dialect. In parentheses it is compiled at once, for as long as the dialect is understood. */
function intrinsic<Call>(source: string): Call | undefined {
  setFlagsFromString("--allow-natives-syntax");
  try {
    return new Script(`(function ${source})`).runInThisContext() as Call;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    setFlagsFromString("--no-allow-natives-syntax");
  }
}
