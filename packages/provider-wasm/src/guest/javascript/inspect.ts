import { constructorName, isEmpty, kindOf, ownKeys, prefixOf, tagOf } from "./inspect-kinds.js";
import { arranged } from "./inspect-layout.js";
import { quoted, quotedInLines } from "./inspect-text.js";

/** Options of `util.inspect` that are honoured. */
export interface InspectOptions {
  readonly depth?: number | null;
  readonly maxStringLength?: number | null;
  readonly maxArrayLength?: number | null;
  readonly breakLength?: number;
  readonly compact?: number | boolean;
  readonly showHidden?: boolean;
}

/** One call of `inspect`, on its way through a value. */
export interface Context {
  readonly depth: number;
  readonly maxStringLength: number;
  readonly maxArrayLength: number;
  readonly breakLength: number;
  /** How many levels may share a line; 0 for none. */
  readonly compact: number;
  readonly showHidden: boolean;
  readonly seen: object[];
  readonly circular: Map<object, number>;
  indentation: number;
  level: number;
  /** The level of the object that was written last: how deep those before it go. */
  lastLevel: number;
  /** The text of a member, two columns further right. */
  nested(value: unknown): string;
}

/** The symbol by which objects show themselves. */
export const customInspect = Symbol.for("nodejs.util.inspect.custom");
const identifier = /^[A-Za-z_][\w]*$/;
const defaults = { depth: 2, maxStringLength: 10_000, maxArrayLength: 100, breakLength: 80, compact: 3 } as const;

/** The text of any value, as Node's `util.inspect` gives it. */
export function inspect(value: unknown, options: InspectOptions = {}): string {
  const { compact = defaults.compact } = options;
  return format(value, {
    depth: limit(options.depth, defaults.depth),
    maxStringLength: limit(options.maxStringLength, defaults.maxStringLength),
    maxArrayLength: limit(options.maxArrayLength, defaults.maxArrayLength),
    breakLength: options.breakLength ?? defaults.breakLength,
    compact: typeof compact === "number" ? compact : compact ? defaults.compact : 0,
    showHidden: options.showHidden ?? false,
    seen: [],
    circular: new Map(),
    indentation: 0,
    level: 0,
    lastLevel: 0,
    nested(member) {
      this.indentation += 2;
      const text = format(member, this);
      this.indentation -= 2;
      return text;
    },
  });
}

function limit(given: number | null | undefined, usual: number): number {
  return given === null ? Number.POSITIVE_INFINITY : (given ?? usual);
}

function format(value: unknown, context: Context): string {
  if (typeof value === "string") return formatString(value, context);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.toString();
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return `${value}`;
  const own = custom(value, context);
  if (own !== undefined) return own;
  if (!context.seen.includes(value)) return formatObject(value, context);
  const index = context.circular.get(value) ?? context.circular.size + 1;
  context.circular.set(value, index);
  return `[Circular *${index}]`;
}

function custom(value: object, context: Context): string | undefined {
  const show = (value as Record<symbol, unknown>)[customInspect];
  if (typeof show !== "function" || show === inspect) return undefined;
  const depth = context.depth - context.level;
  const shown: unknown = Reflect.apply(show, value, [depth, { depth, stylize: String }, inspect]);
  if (shown === value) return undefined;
  if (typeof shown !== "string") return format(shown, context);
  return shown.replaceAll("\n", `\n${" ".repeat(context.indentation)}`);
}

function formatString(value: string, context: Context): string {
  const shown = value.slice(0, context.maxStringLength);
  const rest = value.length - shown.length;
  const more = rest > 0 ? `... ${rest} more character${rest > 1 ? "s" : ""}` : "";
  const room = context.breakLength - context.indentation - 4;
  return (
    (context.level > 0 && shown.length > Math.max(16, room) ? quotedInLines(shown, context) : quoted(shown)) + more
  );
}

function formatObject(value: object, context: Context): string {
  const name = constructorName(value);
  const tag = tagOf(value, name);
  const keys = ownKeys(value, context.showHidden);
  const kind = kindOf(value, name, tag, keys, context);
  if (isEmpty(kind)) return kind.base ?? kind.braces.join("");
  if (context.level > context.depth)
    return `[${Array.isArray(value) ? "Array" : prefixOf(name, tag, "Object").trim()}]`;
  context.seen.push(value);
  context.lastLevel = context.level;
  context.level += 1;
  const entries = [...kind.entries(), ...kind.keys.map((key) => formatMember(value, key, context))];
  context.level -= 1;
  context.seen.pop();
  const index = context.circular.get(value);
  const reference = index === undefined ? "" : `<ref *${index}> `;
  const { base = "", braces, isList = false } = kind;
  const open = base === "" ? `${reference}${braces[0]}` : braces[0];
  return arranged(base === "" ? "" : reference + base, [open, braces[1]], entries, isList ? value : undefined, context);
}

function formatMember(value: object, key: string | symbol, context: Context): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  const name = typeof key === "symbol" ? `[${key.toString()}]` : identifier.test(key) ? key : quoted(key);
  const label = descriptor?.enumerable === false && typeof key === "string" ? `[${key}]` : name;
  if (descriptor?.get) return `${label}: [Getter${descriptor.set ? "/Setter" : ""}]`;
  if (descriptor?.set) return `${label}: [Setter]`;
  return `${label}: ${context.nested(descriptor ? descriptor.value : (value as Record<string | symbol, unknown>)[key])}`;
}
