import type { SandboxError } from "@sandkit/core";
import { invalid } from "../result/error-result.js";
import { abridged } from "../result/text.js";

/** Places of a text that are looked for. */
const maxPlaces = 10;
/** Longest text that is searched for something that comes near. */
const maxNearChars = 1024 * 1024;

/** One piece of a file and what comes in its place. */
export interface Edit {
  readonly oldText: string;
  readonly content: string;
}

/**
 * The text after an edit, and the line where it was made. The old text must stand there exactly once.
 * @throws SandboxError `INVALID` with where it stands, or what comes near to it
 */
export function edited(path: string, text: string, asked: Edit): { readonly changed: string; readonly line: number } {
  const { oldText, content } = inLineEndsOf(text, asked);
  const [at, ...others] = placesOf(text, oldText);
  if (at === undefined) throw notThere(path, text, asked.oldText);
  const line = lineAt(text, at);
  if (others.length === 0) {
    return { changed: text.slice(0, at) + content + text.slice(at + oldText.length), line };
  }
  const lines = [line, ...others.map((place) => lineAt(text, place))];
  const times = lines.length > maxPlaces ? `more than ${maxPlaces}` : `${lines.length}`;
  throw invalid(
    `write_file: old_text stands ${times} times in ${path} (lines ${lines.slice(0, maxPlaces).join(", ")}): include more of the text around the one you mean`,
  );
}

/** A model sees no carriage returns: in a file of Windows its line ends are those of the file. */
function inLineEndsOf(text: string, edit: Edit): Edit {
  if (!text.includes("\r\n") || text.includes(edit.oldText)) return edit;
  const windows = (part: string) => part.replaceAll(/\r?\n/g, "\r\n");
  return { oldText: windows(edit.oldText), content: windows(edit.content) };
}

/** Where a text stands, overlaps included; one place more than are told at most. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && places.length <= maxPlaces; at = text.indexOf(part, at + 1)) {
    places.push(at);
  }
  return places;
}

function lineAt(text: string, place: number): number {
  return text.slice(0, place).split("\n").length;
}

function notThere(path: string, text: string, oldText: string): SandboxError {
  const near = text.length > maxNearChars ? undefined : nearestLine(text, oldText);
  const hint =
    near === undefined
      ? "it may have changed"
      : `it differs only in white space; line ${near.number} is ${JSON.stringify(abridged(near.text, 200))}`;
  return invalid(`write_file: old_text is not in ${path} (${hint}): read_file it and copy the text exactly`);
}

/** Where the text would stand if white space did not count. */
function nearestLine(text: string, oldText: string): { readonly number: number; readonly text: string } | undefined {
  const wanted = oldText.replaceAll(/\s+/g, "");
  // Of each character that counts, its place in the text.
  const places: number[] = [];
  let packed = "";
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    for (let n = 0; n < word.length; n++) places.push(index + n);
    packed += word;
  }
  const place = wanted === "" ? undefined : places[packed.indexOf(wanted)];
  if (place === undefined) return undefined;
  const number = lineAt(text, place);
  return { number, text: text.split("\n")[number - 1] ?? "" };
}
