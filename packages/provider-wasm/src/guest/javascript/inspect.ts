import { stackOf } from "./failures.js";
import { host } from "./host.js";

/** Options of `util.inspect` that are honoured. */
export interface InspectOptions {
  readonly depth?: number | null;
  readonly maxStringLength?: number | null;
  readonly maxArrayLength?: number | null;
  readonly breakLength?: number;
  readonly compact?: number | boolean;
  readonly showHidden?: boolean;
}

interface Context {
  readonly depth: number;
  readonly maxStringLength: number;
  readonly maxArrayLength: number;
  readonly breakLength: number;
  readonly showHidden: boolean;
  readonly seen: object[];
  readonly circular: Map<object, number>;
  indentation: number;
  level: number;
}

/** What a value looks like inside its braces. */
interface Parts {
  readonly prefix: string;
  readonly braces: readonly [open: string, close: string];
  readonly entries: string[];
  readonly isArray?: boolean;
}

/** The symbol by which objects show themselves. */
export const customInspect = Symbol.for("nodejs.util.inspect.custom");
const identifier = /^[A-Za-z_$][\w$]*$/;
const compactLevels = 3;
/** Fewer entries stay in one list. */
const groupFrom = 6;

/** The text of any value, as Node's `util.inspect` gives it in the cases that programs print. */
export function inspect(value: unknown, options: InspectOptions = {}): string {
  return format(value, {
    depth: options.depth === null ? Number.POSITIVE_INFINITY : (options.depth ?? 2),
    maxStringLength: options.maxStringLength ?? (options.maxStringLength === null ? Number.POSITIVE_INFINITY : 10_000),
    maxArrayLength: options.maxArrayLength ?? (options.maxArrayLength === null ? Number.POSITIVE_INFINITY : 100),
    breakLength: options.breakLength ?? 80,
    showHidden: options.showHidden ?? false,
    seen: [],
    circular: new Map(),
    indentation: 0,
    level: 0,
  });
}

function format(value: unknown, context: Context): string {
  if (typeof value === "string") return formatString(value, context);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.toString();
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return `${value}`;
  if (context.seen.includes(value)) {
    const index = context.circular.get(value) ?? context.circular.size + 1;
    context.circular.set(value, index);
    return `[Circular *${index}]`;
  }
  return custom(value, context) ?? formatObject(value, context);
}

function custom(value: object, context: Context): string | undefined {
  const show = (value as Record<symbol, unknown>)[customInspect];
  if (typeof show !== "function" || show === inspect) return undefined;
  const depth = context.depth - context.level;
  const shown: unknown = show.call(value, depth, { depth }, inspect);
  if (shown === value) return undefined;
  return typeof shown === "string" ? shown.replaceAll("\n", `\n${" ".repeat(context.indentation)}`) : format(shown, context);
}

function formatString(value: string, context: Context): string {
  const shown = value.slice(0, context.maxStringLength);
  const rest = value.length - shown.length;
  const more = rest > 0 ? `... ${rest} more character${rest > 1 ? "s" : ""}` : "";
  return quote(shown) + more;
}

/** Single quotes, unless others need no escapes. */
function quote(text: string): string {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !/[`]|\$\{/.test(text) ? "`" : "'";
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replace(/\\u00([01][0-9a-f])/g, "\\x$1");
  const control = escaped.replace(/[\x7f-\x9f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return mark + (mark === "'" ? control.replaceAll("'", "\\'") : control) + mark;
}

function formatObject(value: object, context: Context): string {
  const nameOfKind = constructorName(value);
  if (context.level > context.depth) {
    return Array.isArray(value) ? "[Array]" : `[${nameOfKind ?? "Object: null prototype"}]`;
  }
  context.seen.push(value);
  context.level += 1;
  let parts: Parts;
  try {
    parts = partsOf(value, nameOfKind, context);
  } finally {
    context.level -= 1;
    context.seen.pop();
  }
  const index = context.circular.get(value);
  const reference = index === undefined ? "" : `<ref *${index}> `;
  const { braces, entries } = parts;
  const prefix = `${reference}${parts.prefix}`;
  if (entries.length === 0) return braces[0] === "" ? prefix : `${prefix}${prefix && !prefix.endsWith(" ") ? " " : ""}${braces.join("")}`;
  const open = braces[0] === "" ? "{" : braces[0];
  const close = braces[1] === "" ? "}" : braces[1];
  const spaced = prefix === "" || prefix.endsWith(" ") ? prefix : `${prefix} `;
  return joined({ ...parts, prefix: spaced, braces: [open, close] }, context);
}

function joined({ prefix, braces, entries, isArray }: Parts, context: Context): string {
  const output = isArray && entries.length > groupFrom ? grouped(entries, context) : entries;
  const innermost = deepest(entries) < compactLevels;
  if (innermost && output === entries) {
    const start = output.length + context.indentation + braces[0].length + prefix.length + 10;
    const length = output.reduce((sum, entry) => sum + entry.length, output.length + start);
    const line = output.join(", ");
    if (length <= context.breakLength && !line.includes("\n")) return `${prefix}${braces[0]} ${line} ${braces[1]}`;
  }
  const indent = `\n${" ".repeat(context.indentation)}`;
  return `${prefix}${braces[0]}${indent}  ${output.join(`,${indent}  `)}${indent}${braces[1]}`;
}

/** How many levels of braces the entries hold, as far as that matters. */
function deepest(entries: readonly string[]): number {
  let most = 0;
  for (const entry of entries) {
    if (!/[[{]/.test(entry)) continue;
    let depth = 0;
    for (const char of entry.replace(/'(?:[^'\\]|\\.)*'/g, "")) {
      if (char === "{" || char === "[") most = Math.max(most, ++depth);
      else if (char === "}" || char === "]") depth -= 1;
    }
  }
  return most;
}

/** Many short entries in columns, as Node does it. */
function grouped(entries: string[], context: Context): string[] {
  const more = /^\.\.\. \d+ more item/.test(entries.at(-1) ?? "");
  const count = more ? entries.length - 1 : entries.length;
  const separator = 2;
  const lengths = entries.slice(0, count).map((entry) => entry.length + separator);
  const longest = Math.max(...lengths);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const actual = longest;
  if (actual * 3 + context.indentation >= context.breakLength) return entries;
  if (!(total / actual > 5 || longest - separator <= 6)) return entries;
  const bias = Math.sqrt(actual - total / entries.length);
  const columns = Math.min(
    Math.round(Math.sqrt(2.5 * Math.max(bias, 1) * count) / Math.max(bias, 1)),
    Math.floor((context.breakLength - context.indentation) / actual),
    compactLevels * 4,
    15,
  );
  if (columns <= 1) return entries;
  const widths = Array.from({ length: columns }, (_, column) => {
    let width = 0;
    for (let index = column; index < count; index += columns) width = Math.max(width, lengths[index] ?? 0);
    return width;
  });
  const numeric = entries.slice(0, count).every((entry) => /^-?[\d.e+n-]+$/.test(entry));
  const rows: string[] = [];
  for (let start = 0; start < count; start += columns) {
    const end = Math.min(start + columns, count);
    const cells = entries.slice(start, end).map((entry, column) => {
      const last = start + column === end - 1;
      const text = last ? entry : `${entry}, `;
      const width = (widths[column] ?? 0) - (last ? separator : 0);
      return numeric ? text.padStart(width) : last ? text : text.padEnd(width);
    });
    rows.push(cells.join(""));
  }
  if (more) rows.push(entries.at(-1) ?? "");
  return rows.length < entries.length ? rows : entries;
}

function partsOf(value: object, kind: string | undefined, context: Context): Parts {
  const tag = tagOf(value, kind);
  const named = (usual: string, size?: number) => {
    const label = `${kind ?? `[${usual}: null prototype]`}${size === undefined ? "" : `(${size})`}`;
    return `${label}${tag} `;
  };
  const keys = ownKeys(value, context);
  const members = (list: readonly (string | symbol)[] = keys) => list.map((key) => formatMember(value, key, context));
  if (Array.isArray(value)) {
    const prefix = kind === "Array" && tag === "" ? "" : named("Array", value.length);
    const rest = keys.filter((key) => typeof key === "symbol" || !/^\d+$/.test(key));
    return { prefix, braces: ["[", "]"], entries: [...items(value, context), ...members(rest)], isArray: true };
  }
  if (typeof value === "function") return { prefix: functionLabel(value as (...args: never[]) => unknown, kind, tag), braces: ["", ""], entries: members() };
  if (isError(value)) {
    const hidden = new Set<string | symbol>(["stack", "message"]);
    const text = indented(stackOf(value), context);
    const cause = Object.hasOwn(value, "cause") ? [`[cause]: ${nested((value as Error).cause, context)}`] : [];
    const errors = value instanceof AggregateError ? [`[errors]: ${nested(value.errors, context)}`] : [];
    const entries = [...members(keys.filter((key) => !hidden.has(key))), ...cause, ...errors];
    return { prefix: text.includes("\n    at ") ? text : `[${text}]`, braces: ["", ""], entries };
  }
  if (value instanceof Map) {
    const entries = guardedList(() => [...Map.prototype.entries.call(value)]);
    const texts = entries.map(([key, item]) => `${nested(key, context)} => ${nested(item, context)}`);
    return { prefix: named("Map", entries.length), braces: ["{", "}"], entries: [...texts, ...members()] };
  }
  if (value instanceof Set) {
    const entries = guardedList(() => [...Set.prototype.values.call(value)]);
    const texts = entries.map((item) => nested(item, context));
    return { prefix: named("Set", entries.length), braces: ["{", "}"], entries: [...texts, ...members()] };
  }
  return otherParts(value, kind, tag, named, members, keys, context);
}

function otherParts(
  value: object,
  kind: string | undefined,
  tag: string,
  named: (usual: string, size?: number) => string,
  members: (list?: readonly (string | symbol)[]) => string[],
  keys: readonly (string | symbol)[],
  context: Context,
): Parts {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const list = value as Uint8Array;
    const rest = keys.filter((key) => typeof key === "symbol" || !/^\d+$/.test(key));
    const entries = [...items(list, context), ...members(rest)];
    return { prefix: named("TypedArray", list.length), braces: ["[", "]"], entries, isArray: true };
  }
  if (value instanceof ArrayBuffer) {
    const bytes = new Uint8Array(value, 0, Math.min(value.byteLength, 50));
    const more = value.byteLength > 50 ? ` ... ${value.byteLength - 50} more bytes` : "";
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const entries = [`[Uint8Contents]: <${hex}${more}>`, `byteLength: ${value.byteLength}`, ...members()];
    return { prefix: named("ArrayBuffer"), braces: ["{", "}"], entries };
  }
  const state = host().promiseState(value);
  if (state !== "none") {
    const settled = state === "pending" ? "<pending>" : nested(host().promiseResult(value), context);
    const entries = [state === "rejected" ? `<rejected> ${settled}` : settled, ...members()];
    return { prefix: named("Promise"), braces: ["{", "}"], entries };
  }
  if (value instanceof RegExp) return { prefix: RegExp.prototype.toString.call(value), braces: ["", ""], entries: members() };
  if (value instanceof Date) {
    const time = Date.prototype.getTime.call(value);
    const text = Number.isNaN(time) ? "Invalid Date" : Date.prototype.toISOString.call(value);
    return { prefix: text, braces: ["", ""], entries: members() };
  }
  if (value instanceof WeakMap || value instanceof WeakSet) {
    return { prefix: named("WeakMap"), braces: ["{", "}"], entries: ["<items unknown>"] };
  }
  const boxed = boxedPrimitive(value);
  if (boxed !== undefined) {
    const type = boxed.type[0]?.toUpperCase() + boxed.type.slice(1);
    const rest = keys.filter((key) => boxed.type !== "string" || typeof key === "symbol" || !/^\d+$/.test(key));
    return { prefix: `[${type}: ${format(boxed.value, context)}]`, braces: ["", ""], entries: members(rest) };
  }
  const isArguments = Object.prototype.toString.call(value) === "[object Arguments]";
  if (isArguments) {
    const list = Array.from(value as ArrayLike<unknown>);
    return { prefix: "[Arguments] ", braces: ["[", "]"], entries: items(list, context), isArray: true };
  }
  const prefix = kind === "Object" && tag === "" ? "" : named("Object");
  return { prefix, braces: ["{", "}"], entries: members() };
}

function items(list: ArrayLike<unknown>, context: Context): string[] {
  const shown: string[] = [];
  const { length } = list;
  for (let index = 0; index < length && shown.length < context.maxArrayLength; index += 1) {
    if (Object.hasOwn(list, index)) {
      shown.push(nested(list[index], context));
      continue;
    }
    let end = index;
    while (end < length && !Object.hasOwn(list, end)) {
      end += 1;
      // A sparse array can be as long as a number goes.
      if (end - index > 1_000_000) end = nextIndex(list, end);
    }
    shown.push(`<${end - index} empty item${end - index > 1 ? "s" : ""}>`);
    index = end - 1;
  }
  const rest = length - Math.min(length, context.maxArrayLength);
  if (rest > 0 && shown.length >= context.maxArrayLength) shown.push(`... ${rest} more item${rest > 1 ? "s" : ""}`);
  return shown;
}

function nextIndex(list: ArrayLike<unknown>, from: number): number {
  for (const key of Object.keys(list)) {
    const index = Number(key);
    if (Number.isInteger(index) && index >= from) return index;
  }
  return list.length;
}

function nested(value: unknown, context: Context): string {
  context.indentation += 2;
  try {
    return format(value, context);
  } finally {
    context.indentation -= 2;
  }
}

function formatMember(value: object, key: string | symbol, context: Context): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  const name = typeof key === "symbol" ? `[${key.toString()}]` : identifier.test(key) ? key : quote(key);
  const label = descriptor?.enumerable === false ? `[${String(typeof key === "symbol" ? key.toString() : key)}]` : name;
  if (descriptor && "value" in descriptor) return `${label}: ${nested(descriptor.value, context)}`;
  if (descriptor?.get) return `${label}: [Getter${descriptor.set ? "/Setter" : ""}]`;
  return `${label}: ${descriptor?.set ? "[Setter]" : nested((value as Record<string | symbol, unknown>)[key], context)}`;
}

function ownKeys(value: object, context: Context): (string | symbol)[] {
  const keys = Reflect.ownKeys(value);
  if (context.showHidden) return keys.filter((key) => key !== "length" || !Array.isArray(value));
  return keys.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}

/** The name of what made an object, or undefined for one without a prototype. */
function constructorName(value: object): string | undefined {
  for (let at: object | null = value; at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, "constructor");
    const made: unknown = descriptor?.value;
    if (typeof made === "function" && made.name !== "" && value instanceof made) return made.name;
  }
  return undefined;
}

function tagOf(value: object, kind: string | undefined): string {
  const tag = (value as Record<symbol, unknown>)[Symbol.toStringTag];
  return typeof tag === "string" && tag !== "" && tag !== kind ? ` [${tag}]` : "";
}

function functionLabel(value: (...args: never[]) => unknown, kind: string | undefined, tag: string): string {
  const source = Function.prototype.toString.call(value);
  if (source.startsWith("class") && /^class\b/.test(source)) {
    const parent: unknown = Object.getPrototypeOf(value);
    const extended = typeof parent === "function" && parent.name ? ` extends ${parent.name}` : "";
    return `[class ${value.name || "(anonymous)"}${extended}]${tag}`;
  }
  const name = value.name ? `: ${value.name}` : " (anonymous)";
  return `[${kind ?? "Function (null prototype)"}${name}]${tag === ` [${kind}]` ? "" : tag}`;
}

function boxedPrimitive(value: object): { readonly type: string; readonly value: unknown } | undefined {
  for (const kind of [String, Number, Boolean, Symbol, BigInt]) {
    if (!(value instanceof kind)) continue;
    try {
      const inner: unknown = Reflect.apply(kind.prototype.valueOf, value, []);
      return { type: typeof inner, value: inner };
    } catch {
      // It only has that prototype.
      return undefined;
    }
  }
  return undefined;
}

/** Whether an object is an error, also one whose prototype has been changed. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

function guardedList<Item>(read: () => Item[]): Item[] {
  try {
    return read();
  } catch {
    // It only has that prototype.
    return [];
  }
}

function indented(text: string, context: Context): string {
  return text.replaceAll("\n", `\n${" ".repeat(context.indentation)}`);
}
