/** Characters from which base64 counts as long. */
const minChars = 1_024;
/** Different characters that make it base64 and not a sequence of letters, such as a genome. */
const minAlphabet = 40;
/** Lengths at which programs wrap base64; other lines of one length are lists of keys and hashes. */
const wrappedLengths: readonly number[] = [60, 64, 72, 76];

const codes = new Set([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"].map(codeOf));

/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The long base64 in a text, within lines or wrapped over lines of one length. Time grows with the length alone. */
export function base64Spans(text: string): Span[] {
  const spans: Span[] = [];
  let wrapped: (Span & { readonly line: number }) | undefined;
  const finish = (last: Span | undefined) => {
    const span = wrapped && { start: wrapped.start, end: last?.end ?? wrapped.end };
    wrapped = undefined;
    if (span && isLong(text, span)) spans.push(span);
  };
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const next = newline < 0 ? text.length : newline + 1;
    const end = newline > start && text[newline - 1] === "\r" ? newline - 1 : newline < 0 ? next : newline;
    const length = end - start;
    const whole = length > 0 && length < minChars && runEnd(text, start) === end;
    if (wrapped && whole && length === wrapped.line && text[end - 1] !== "=") wrapped = { ...wrapped, end };
    else {
      finish(wrapped && whole && length <= wrapped.line ? { start, end } : undefined);
      if (whole && wrappedLengths.includes(length) && text[end - 1] !== "=") wrapped = { start, end, line: length };
      if (length >= minChars) spans.push(...spansWithin(text, start, end));
    }
    start = next;
  }
  finish(undefined);
  return spans;
}

function spansWithin(text: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  for (let at = start; at < end; ) {
    const span = { start: at, end: runEnd(text, at) };
    if (isLong(text, span)) spans.push(span);
    at = span.end + 1;
  }
  return spans;
}

/** Where the base64 that begins at a place ends, its padding included. */
function runEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && codes.has(text.charCodeAt(end))) end += 1;
  if (end === start) return start;
  if (text[end] === "=") end += 1;
  if (text[end] === "=") end += 1;
  return end;
}

function isLong(text: string, { start, end }: Span): boolean {
  return end - start >= minChars && new Set(text.slice(start, start + 4 * minChars)).size >= minAlphabet;
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}
