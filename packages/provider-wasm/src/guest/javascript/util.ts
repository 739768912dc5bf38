import { isDeepEqual } from "./deep-equal.js";
import { formatAll } from "./format.js";
import { host } from "./host.js";
import { customInspect, inspect as inspectValue } from "./inspect.js";
import { isError } from "./inspect-kinds.js";

type Callback = (error: unknown, value?: unknown) => void;

/** `util.inspect`, under the name by which the drivers of core import it. */
export const inspect = Object.assign(inspectValue, { custom: customInspect, defaultOptions: {} });
export const format = (...args: unknown[]): string => formatAll(args);
export const isDeepStrictEqual = (a: unknown, b: unknown): boolean => isDeepEqual(a, b, true);
export const promisifyCustom = Symbol.for("nodejs.util.promisify.custom");

export const types = {
  isNativeError: isError,
  isPromise: (value: unknown): boolean => host().promiseState(value) !== "none",
  isDate: (value: unknown): boolean => value instanceof Date,
  isRegExp: (value: unknown): boolean => value instanceof RegExp,
  isMap: (value: unknown): boolean => value instanceof Map,
  isSet: (value: unknown): boolean => value instanceof Set,
  isArrayBuffer: (value: unknown): boolean => value instanceof ArrayBuffer,
  isUint8Array: (value: unknown): boolean => value instanceof Uint8Array,
  isTypedArray: (value: unknown): boolean => ArrayBuffer.isView(value) && !(value instanceof DataView),
};

/** A function that gives a promise, of one that takes a callback last. */
export function promisify(original: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  const own = (original as unknown as Record<symbol, unknown>)[promisifyCustom];
  if (typeof own === "function") return own as (...args: unknown[]) => unknown;
  return function (this: unknown, ...args: unknown[]) {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, value) => (error ? reject(error) : resolve(value));
      original.call(this, ...args, done);
    });
  };
}
promisify.custom = promisifyCustom;

/** The reverse. */
export function callbackify(original: (...args: unknown[]) => Promise<unknown>): (...args: unknown[]) => void {
  return (...args) => {
    const done = args.pop() as Callback;
    original(...args).then(
      (value) => done(null, value),
      (error) => done(error),
    );
  };
}

export function inherits(child: { prototype: object }, parent: { prototype: object }): void {
  Object.defineProperty(child, "super_", { value: parent, configurable: true, writable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

export function deprecate<Wrapped>(original: Wrapped): Wrapped {
  return original;
}

export function stripVTControlCharacters(text: string): string {
  const start = String.fromCharCode(27);
  return text.replace(new RegExp(`${start}\\[[0-9;?]*[A-Za-z]`, "g"), "");
}
