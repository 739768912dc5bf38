import { createScanner, type Node } from "jsonc-parser";
import { endOfLine } from "./config-format.js";
import { prettyJson } from "./pretty-json.js";

/**
 * Adds a property at the end of an object, in the manner of those that are there. Comments stay with what they stand
 * behind, and a trailing comma stays trailing.
 */
export function insertProperty(text: string, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1);
  const style = styleOf(text, object);
  if (style === undefined) {
    const at = (last?.offset ?? 0) + (last?.length ?? 0);
    return `${text.slice(0, at)}, ${JSON.stringify(key)}: ${JSON.stringify(value)}${text.slice(at)}`;
  }
  const eol = endOfLine(text);
  const json = prettyJson(value, style.unit).split("\n").join(`${eol}${style.indent}`);
  const property = `${eol}${style.indent}${JSON.stringify(key)}: ${json}`;
  if (last === undefined) {
    const start = object.offset + 1;
    const end = object.offset + object.length - 1;
    // Whatever stands in an empty object is a comment.
    const comment = text.slice(start, end).trimEnd();
    return `${text.slice(0, start)}${comment}${property}${eol}${style.outer}${text.slice(end)}`;
  }
  const lastEnd = last.offset + last.length;
  const { comma, end } = endOfMember(text, lastEnd);
  if (comma === undefined) return `${text.slice(0, lastEnd)},${text.slice(lastEnd, end)}${property}${text.slice(end)}`;
  return `${text.slice(0, end)}${property},${text.slice(end)}`;
}

interface Style {
  /** Of the members. */
  readonly indent: string;
  /** Of the line on which the object begins, and of its closing brace. */
  readonly outer: string;
  /** One level. */
  readonly unit: string;
}

/** Undefined: the object stands on one line, and so will its new member. */
function styleOf(text: string, object: Node): Style | undefined {
  const outer = indentAt(text, object.offset);
  const first = object.children?.[0];
  if (first === undefined) {
    const unit = outer === "" ? "  " : unitOf(text);
    return { outer, unit, indent: outer + unit };
  }
  const isOwnLine = /\n[ \t]*$/.test(text.slice(object.offset, first.offset));
  if (!isOwnLine) return undefined;
  const indent = indentAt(text, first.offset);
  const unit = indent.startsWith(outer) && indent.length > outer.length ? indent.slice(outer.length) : "  ";
  return { outer, indent, unit };
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The first indentation that the text has. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

/** Where a member ends that is the last: behind its comma, and behind a comment on the same line. */
function endOfMember(text: string, from: number): { readonly comma: number | undefined; readonly end: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let comma: number | undefined;
  let end = from;
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const token = text.slice(offset, offset + scanner.getTokenLength());
    if (token === "}" || (comma !== undefined && /^\r?\n$/.test(token))) break;
    if (token === ",") comma = offset;
    // A comment on a line of its own belongs to what follows, unless a comma is still to come.
    const isComment = token.startsWith("/") && !text.slice(from, offset).includes("\n");
    if (token === "," || isComment) end = offset + token.length;
  }
  return { comma, end };
}
