/** `structuredClone`, for the values that have no resources of the host. */
export function structuredClone(value: unknown): unknown {
  return clone(value, new Map());
}

function clone(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw failure(value);
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const keep = <Copy>(copy: Copy): Copy => {
    seen.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return keep(new Date(value));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) return keep(cloneView(value, seen));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(clone(item, seen));
    return copy;
  }
  if (value instanceof Error) return keep(cloneError(value, seen));
  if (value instanceof WeakMap || value instanceof WeakSet || value instanceof Promise) throw failure(value);
  const copy: Record<string, unknown> | unknown[] = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const [key, item] of Object.entries(value)) (copy as Record<string, unknown>)[key] = clone(item, seen);
  return copy;
}

function cloneView(view: ArrayBufferView, seen: Map<object, unknown>): unknown {
  const buffer = clone(view.buffer, seen) as ArrayBuffer;
  const kinds = [
    Int8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
  ];
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
  const Kind = kinds.find((kind) => view instanceof kind) ?? Uint8Array;
  return new Kind(buffer, view.byteOffset, view.byteLength / Kind.BYTES_PER_ELEMENT);
}

function cloneError(error: Error, seen: Map<object, unknown>): Error {
  const kinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  const Kind = kinds.find((kind) => error instanceof kind) ?? Error;
  const copy = new Kind(error.message);
  if (Object.hasOwn(error, "cause")) copy.cause = clone(error.cause, seen);
  return Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true });
}

function failure(value: unknown): Error {
  return Object.assign(new Error(`${String(value)} could not be cloned.`), { name: "DataCloneError", code: 25 });
}
