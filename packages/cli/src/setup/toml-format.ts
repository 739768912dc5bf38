import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError } from "smol-toml";
import { type ConfigFormat, type Entry, endOfLine, isTable, UnreadableConfig } from "./config-format.js";

/** TOML with a table for each server under this key. */
export function tomlFormat(key: string): ConfigFormat {
  return {
    render: (name, entry) => render(key, name, entry),
    read: (text) => serversOf(text, key),
    put(text, name, entry) {
      const eol = endOfLine(text);
      const section = render(key, name, entry).replaceAll("\n", eol);
      const result = name in serversOf(text, key) ? replaced(text, [key, name], section) : appended(text, section);
      // Tables can be written in many ways: what came out is read again, and must be what was there and the entry.
      const wanted = { ...read(text), [key]: { ...serversOf(text, key), [name]: entry } };
      if (isDeepStrictEqual(plainOf(tryRead(result)), plainOf(wanted))) return result;
      throw new UnreadableConfig(`"${key}" is written in a way that cannot be added to without rewriting it`);
    },
  };
}

function render(key: string, name: string, entry: Entry): string {
  return `${stringify({ [key]: { [name]: entry } }).trim()}\n`;
}

function serversOf(text: string, key: string): Readonly<Record<string, unknown>> {
  const servers = read(text)[key] ?? {};
  if (!isTable(servers)) throw new UnreadableConfig(`"${key}" should be a table`);
  return servers;
}

function read(text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ""] = error.message.replace("Invalid TOML document: ", "").split("\n");
    throw new UnreadableConfig(`no TOML (${what})`, error.line);
  }
}

function tryRead(text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof UnreadableConfig) return undefined;
    throw error;
  }
}

/** The same without prototypes and classes, for comparing. */
function plainOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainOf);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainOf(member)]));
}

function appended(text: string, section: string): string {
  const eol = endOfLine(text);
  const body = text.trimEnd();
  return body === "" ? text.replace(/\s+$/, "") + section : `${body}${eol}${eol}${section}`;
}

/** Takes the tables of one server out, and puts the section where the first of them stood. */
function replaced(text: string, path: readonly string[], section: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let at: number | undefined;
  let isInside = false;
  let held: string[] = [];
  let before = "";
  for (const line of lines) {
    // In a string or an array over several lines, what looks like a header is none: the text before it does not end.
    const candidate = headerOf(line);
    const header = candidate === undefined || tryRead(before) === undefined ? undefined : candidate;
    before += line;
    if (header !== undefined) {
      isInside = path.every((part, index) => header[index] === part);
      if (isInside) at ??= kept.length;
      // Comments and empty lines before a header are its own.
      else if (at !== undefined) kept.push(...held);
      held = [];
    }
    if (!isInside) kept.push(line);
    else if (/^(?:#|$)/.test(line.trim())) held.push(line);
    else held = [];
  }
  kept.push(...held);
  if (at === undefined) return text;
  const head = kept.slice(0, at).join("");
  const rest = kept.slice(at).join("");
  return head + section + (rest === "" || /^\s*\n/.test(rest) ? rest : `${endOfLine(text)}${rest}`);
}

/** The path of a line that opens a table, in whichever quotes. */
function headerOf(line: string): string[] | undefined {
  const inner = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
  if (inner === undefined) return undefined;
  const parts = inner.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s."']+/g) ?? [];
  return parts.map((part) => (/^["']/.test(part) ? part.slice(1, -1) : part));
}
