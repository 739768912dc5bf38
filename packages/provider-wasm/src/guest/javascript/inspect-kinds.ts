import { stackOf } from "./failures.js";
import { host } from "./host.js";
import type { Context } from "./inspect.js";

type Key = string | symbol;
type AnyFunction = (...args: never[]) => unknown;

/** What a value looks like around and inside its braces. */
export interface Kind {
  /** What stands before the braces; all there is where there are no entries. */
  readonly base?: string;
  readonly braces: readonly [open: string, close: string];
  /** Those beside the members of `keys`. */
  readonly entries: () => readonly string[];
  /** Whether `entries` gives any. */
  readonly hasEntries: boolean;
  readonly keys: readonly Key[];
  /** Whether the entries are items, which may stand in columns. */
  readonly isList?: boolean;
}

const mostBytes = 50;
const ownPrefixes: Readonly<Record<string, string>> = {
  "[object Arguments]": "[Arguments] ",
  "[object Module]": "[Module: null prototype] ",
};
const none = () => [];
const kinds = [listKind, functionKind, errorKind, collectionKind, bytesKind, promiseKind, plainTextKind, boxedKind];

/** Whether nothing stands between the braces of a value. */
export function isEmpty({ hasEntries, keys }: Kind): boolean {
  return !hasEntries && keys.length === 0;
}

/** How a value is shown. */
export function kindOf(
  value: object,
  name: string | undefined,
  tag: string,
  keys: readonly Key[],
  context: Context,
): Kind {
  for (const find of kinds) {
    const found = find(value, { name, tag, keys, context });
    if (found) return found;
  }
  const own = ownPrefixes[Object.prototype.toString.call(value)];
  const prefix = own ?? (name === "Object" && tag === "" ? "" : prefixOf(name, tag, "Object"));
  return { braces: [`${prefix}{`, "}"], entries: none, hasEntries: false, keys };
}

interface Facts {
  readonly name: string | undefined;
  readonly tag: string;
  readonly keys: readonly Key[];
  readonly context: Context;
}

function listKind(value: object, { name, tag, keys, context }: Facts): Kind | undefined {
  const isTyped = ArrayBuffer.isView(value) && !(value instanceof DataView);
  if (!Array.isArray(value) && !isTyped) return undefined;
  const list = value as unknown as ArrayLike<unknown>;
  const isUsual = Array.isArray(value) && name === "Array" && tag === "";
  const sized = prefixOf(name, tag, isTyped ? "TypedArray" : "Array", `(${list.length})`);
  return {
    braces: [`${isUsual ? "" : sized}[`, "]"],
    entries: () => items(list, context),
    hasEntries: list.length > 0,
    keys: keys.filter((key) => typeof key === "symbol" || !/^\d+$/.test(key)),
    isList: true,
  };
}

function functionKind(value: object, { name, tag, keys }: Facts): Kind | undefined {
  if (typeof value !== "function") return undefined;
  const base = functionLabel(value as AnyFunction, name, tag);
  return { base, braces: ["{", "}"], entries: none, hasEntries: false, keys };
}

function functionLabel(value: AnyFunction, kind: string | undefined, tag: string): string {
  const shownTag = tag === "" || tag === kind ? "" : ` [${tag}]`;
  if (/^class\b/.test(Function.prototype.toString.call(value))) {
    const parent: unknown = Object.getPrototypeOf(value);
    const extended = typeof parent === "function" && parent.name ? ` extends ${parent.name}` : "";
    return `[class ${value.name || "(anonymous)"}${extended}]${shownTag}`;
  }
  const name = value.name ? `: ${value.name}` : " (anonymous)";
  return `[${kind ?? "Function (null prototype)"}${name}]${shownTag}`;
}

function errorKind(value: object, { keys, context }: Facts): Kind | undefined {
  if (!isError(value)) return undefined;
  const text = stackOf(value);
  const told = (key: Key) => ["name", "message", "stack"].includes(String(key)) && isTold(value, String(key), text);
  const hidden = ["cause", "errors"].filter((key) => Object.hasOwn(value, key) && !keys.includes(key));
  const shown = text.includes("\n    at ") ? text : `[${text}]`;
  return {
    base: shown.replaceAll("\n", `\n${" ".repeat(context.indentation)}`),
    braces: ["{", "}"],
    entries: none,
    hasEntries: false,
    keys: [...keys.filter((key) => !told(key)), ...hidden],
  };
}

function isTold(error: Error, key: string, text: string): boolean {
  return key === "stack" || text.includes(String((error as unknown as Record<string, unknown>)[key]));
}

function collectionKind(value: object, { name, tag, keys, context }: Facts): Kind | undefined {
  if (value instanceof WeakMap || value instanceof WeakSet) {
    const braces = [`${prefixOf(name, tag, value instanceof WeakMap ? "WeakMap" : "WeakSet")}{`, "}"] as const;
    return { braces, entries: () => ["<items unknown>"], hasEntries: true, keys };
  }
  const isMap = value instanceof Map;
  if (!isMap && !(value instanceof Set)) return undefined;
  const members = guarded<unknown>(() => [
    ...(isMap ? Map.prototype.entries : Set.prototype.values).call(value as never),
  ]);
  if (!members) return undefined;
  return {
    braces: [`${prefixOf(name, tag, isMap ? "Map" : "Set", `(${members.length})`)}{`, "}"],
    entries: () => {
      if (!isMap) return members.map((item) => context.nested(item));
      return (members as [unknown, unknown][]).map(
        ([key, item]) => `${context.nested(key)} => ${context.nested(item)}`,
      );
    },
    hasEntries: members.length > 0,
    keys,
  };
}

function bytesKind(value: object, { name, tag, keys, context }: Facts): Kind | undefined {
  if (value instanceof DataView) {
    const members = ["byteLength", "byteOffset", "buffer"] as const;
    const entries = () => members.map((key) => `${key}: ${context.nested(value[key])}`);
    return { braces: [`${prefixOf(name, tag, "DataView")}{`, "}"], entries, hasEntries: true, keys };
  }
  const isShared = value instanceof SharedArrayBuffer;
  if (!(value instanceof ArrayBuffer) && !isShared) return undefined;
  return {
    braces: [`${prefixOf(name, tag, isShared ? "SharedArrayBuffer" : "ArrayBuffer")}{`, "}"],
    entries: () => {
      const rest = value.byteLength - mostBytes;
      const more = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : "";
      const bytes = new Uint8Array(value, 0, Math.min(value.byteLength, mostBytes));
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
      return [`[Uint8Contents]: <${hex}${more}>`, `byteLength: ${value.byteLength}`];
    },
    hasEntries: true,
    keys,
  };
}

function promiseKind(value: object, { name, tag, keys, context }: Facts): Kind | undefined {
  const state = host().promiseState(value);
  if (state === "none") return undefined;
  const entries = () => {
    if (state === "pending") return ["<pending>"];
    const settled = context.nested(host().promiseResult(value));
    return [state === "rejected" ? `<rejected> ${settled}` : settled];
  };
  return { braces: [`${prefixOf(name, tag, "Promise")}{`, "}"], entries, hasEntries: true, keys };
}

function plainTextKind(value: object, { name, tag, keys }: Facts): Kind | undefined {
  const text = guarded(() => [
    value instanceof RegExp
      ? RegExp.prototype.toString.call(value)
      : value instanceof Date
        ? dateText(value)
        : undefined,
  ])?.[0];
  if (text === undefined) return undefined;
  const usual = value instanceof Date ? "Date" : "RegExp";
  const base = name === usual && tag === "" ? text : prefixOf(name, tag, usual) + text;
  return { base, braces: ["{", "}"], entries: none, hasEntries: false, keys };
}

function dateText(date: Date): string {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? "Invalid Date" : Date.prototype.toISOString.call(date);
}

function boxedKind(value: object, { keys, context }: Facts): Kind | undefined {
  const type = [String, Number, Boolean, Symbol, BigInt].find((kind) => value instanceof kind);
  const inner = type && guarded<unknown>(() => [Reflect.apply(type.prototype.valueOf, value, [])]);
  if (!type || !inner) return undefined;
  const rest = keys.filter((key) => type !== String || typeof key === "symbol" || !/^\d+$/.test(key));
  const base = `[${type.name}: ${context.nested(inner[0])}]`;
  return { base, braces: ["{", "}"], entries: none, hasEntries: false, keys: rest };
}

function items(list: ArrayLike<unknown>, context: Context): string[] {
  const shown: string[] = [];
  const { length } = list;
  let index = 0;
  while (index < length && shown.length < context.maxArrayLength) {
    const end = Object.hasOwn(list, index) ? index : nextIndex(list, index);
    shown.push(
      end === index ? context.nested(list[index]) : `<${end - index} empty item${end - index > 1 ? "s" : ""}>`,
    );
    index = Math.max(end, index + 1);
  }
  const rest = length - index;
  return rest > 0 ? [...shown, `... ${rest} more item${rest > 1 ? "s" : ""}`] : shown;
}

/** The next index that is there: a sparse array can be as long as a number goes. */
function nextIndex(list: ArrayLike<unknown>, from: number): number {
  for (let index = from; index < Math.min(list.length, from + 1000); index += 1)
    if (Object.hasOwn(list, index)) return index;
  const found = Object.keys(list).find((key) => /^\d+$/.test(key) && Number(key) >= from);
  return found === undefined ? list.length : Number(found);
}

/** The keys of the members that are shown. */
export function ownKeys(value: object, showHidden: boolean): Key[] {
  const keys = Reflect.ownKeys(value);
  if (showHidden) return keys.filter((key) => key !== "length" || !Array.isArray(value));
  return keys.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}

/** The name of what made an object, or undefined for one without a prototype. */
export function constructorName(value: object): string | undefined {
  for (let at: object | null = value; at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, "constructor");
    const made: unknown = descriptor?.value;
    if (typeof made === "function" && made.name !== "" && value instanceof made) return made.name;
  }
  return undefined;
}

/** What an object calls itself beside the name of its constructor; empty for nothing. */
export function tagOf(value: object, name: string | undefined): string {
  const tag = (value as Record<symbol, unknown>)[Symbol.toStringTag];
  // One that is shown as a member is not told twice.
  const isShown = Object.prototype.propertyIsEnumerable.call(value, Symbol.toStringTag);
  return typeof tag === "string" && tag !== name && !isShown ? tag : "";
}

/** What stands before the brace: `Map(2) `, `[Object: null prototype] `. */
export function prefixOf(name: string | undefined, tag: string, usual: string, size = ""): string {
  const shownTag = tag === "" || tag === (name ?? usual) ? "" : `[${tag}] `;
  return `${name === undefined ? `[${usual}${size}: null prototype]` : name + size} ${shownTag}`;
}

/** Whether an object is an error, also one whose prototype has been changed. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

/** Undefined for what only has the prototype that it seems to have. */
function guarded<Item>(read: () => Item[]): Item[] | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
