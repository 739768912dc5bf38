import { inspect } from "node:util";

const maxTextLength = 1024 * 1024;
const deepest = 200;

/** Text of bounded length. */
export function capped(text, limit = maxTextLength) {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}… (${text.length - limit} more characters)`;
}

/** What a REPL shows of a value; a string is itself. */
export function textOf(value) {
  if (typeof value === "string") return capped(value);
  try {
    return capped(inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 100_000 }));
  } catch (error) {
    return `[it cannot be shown: ${error?.message}]`;
  }
}

/** The JSON of a value whose like it can hold; undefined for all others, and for what is too large. */
export function jsonOf(value) {
  try {
    const json = JSON.stringify(plain(value, 0, new Set()));
    return json === undefined || json.length > maxTextLength ? undefined : json;
  } catch {
    // A getter or a `toJSON` of the user may throw anything; such a value has its text alone.
    return undefined;
  }
}

const notJson = new Error("a value that JSON cannot hold");

function plain(value, depth, above) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object" || depth > deepest || above.has(value)) throw notJson;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return plainList(Array.from(value), depth, above);
  if (typeof value.toJSON === "function") return plain(value.toJSON(), depth + 1, above);
  above.add(value);
  const result = Array.isArray(value) ? plainList(value, depth, above) : plainRecord(value, depth, above);
  above.delete(value);
  return result;
}

function plainList(list, depth, above) {
  return Array.from(list, (each) => (each === undefined ? null : plain(each, depth + 1, above)));
}

function plainRecord(value, depth, above) {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw notJson;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each, depth + 1, above)]));
}

/** The forms of a value: those that it gives itself, as other notebooks ask for them, and text. */
export function bundleOf(value) {
  const own = value !== null && typeof value === "object" ? value[Symbol.for("Jupyter.display")] : undefined;
  const forms = typeof own === "function" ? own.call(value) : undefined;
  if (typeof forms !== "object" || forms === null) return { "text/plain": textOf(value) };
  return { "text/plain": textOf(value), ...forms };
}
