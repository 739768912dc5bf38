import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ConfigFormat, type Entry, endOfLine, isTable, UnreadableConfig } from "./config-format.js";
import { insertProperty } from "./insert-property.js";
import { prettyJson } from "./pretty-json.js";

/** JSON with an object of servers under this key. Comments and trailing commas are read, and kept. */
export function jsonFormat(key: string): ConfigFormat {
  return {
    render: (name, entry) => `${prettyJson({ [key]: { [name]: entry } }, "  ")}\n`,
    read(text) {
      const servers = serversOf(text, key);
      return servers === undefined ? {} : getNodeValue(servers);
    },
    put(text, name, entry) {
      const root = parse(text);
      if (root === undefined) return withoutRoot(text, this.render(name, entry));
      const servers = serversOf(text, key);
      if (servers === undefined) return insertProperty(text, root, key, { [name]: entry });
      const existing = propertyOf(text, servers, name);
      return existing === undefined ? insertProperty(text, servers, name, entry) : replaceValue(text, existing, entry);
    },
  };
}

function serversOf(text: string, key: string): Node | undefined {
  const root = parse(text);
  if (root === undefined) return undefined;
  if (root.type !== "object") throw new UnreadableConfig("it should hold an object: { … }", lineAt(text, root.offset));
  const servers = propertyOf(text, root, key);
  if (servers === undefined || servers.type === "object") return servers;
  throw new UnreadableConfig(`"${key}" should be an object: { … }`, lineAt(text, servers.offset));
}

/** Undefined: there is nothing in the file, or comments alone. */
function parse(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first === undefined) return root;
  throw new UnreadableConfig(`no JSON (${words(printParseErrorCode(first.error))})`, lineAt(text, first.offset));
}

/** `CloseBraceExpected` as a person says it. */
function words(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}

/** Readers take the last of two keys of one name, people the first: whoever has both must choose. */
function propertyOf(text: string, object: Node, key: string): Node | undefined {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  const second = found[1];
  if (second !== undefined) throw new UnreadableConfig(`"${key}" stands there twice`, lineAt(text, second.offset));
  return found[0]?.children?.[1];
}

function replaceValue(text: string, node: Node, entry: Entry): string {
  const before = text.slice(0, node.offset);
  const indent = /[^\n]*$/.exec(before)?.[0].match(/^[ \t]*/)?.[0] ?? "";
  const isOneLine = !text.slice(node.offset, node.offset + node.length).includes("\n");
  const value = isOneLine ? JSON.stringify(entry) : prettyJson(entry, unitOf(node, text, indent));
  const lines = value.split("\n").join(`${endOfLine(text)}${indent}`);
  return before + lines + text.slice(node.offset + node.length);
}

/** What the first member of an object is indented by. */
function unitOf(node: Node, text: string, indent: string): string {
  const first = node.children?.[0];
  const line = first === undefined ? undefined : /\n([ \t]*)$/.exec(text.slice(0, first.offset))?.[1];
  return line?.startsWith(indent) && line.length > indent.length ? line.slice(indent.length) : "  ";
}

function withoutRoot(text: string, rendered: string): string {
  if (text.trim() === "") return rendered;
  const eol = endOfLine(text);
  return `${text.trimEnd()}${eol}${rendered.replaceAll("\n", eol)}`;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Whether a reader of plain JSON takes it. */
export function isPlainJson(text: string): boolean {
  try {
    return isTable(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
