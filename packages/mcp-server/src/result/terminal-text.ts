const [esc, bell, csi] = ["\x1b", "\x07", "\x9b"];
const pattern = (source: string) => new RegExp(source, "g");

// Of ECMA-48: strings that end by BEL or ST (titles, hyperlinks), control sequences, and single escapes.
const strings = pattern(`${esc}[\\]PX^_][^${bell}${esc}]*(?:${bell}|${esc}\\\\|$)`);
const sequences = pattern(`(?:${esc}\\[|${csi})[0-?]*[ -/]*[@-~]`);
const escapes = pattern(`${esc}[ -/]*[0-~]?`);
const clearLine = pattern(`${esc}\\[[012]?K`);
// The cursor goes up: what a progress bar of several lines does before it is drawn again.
const moves = new RegExp(`(\\n|${esc}\\[\\d*[AF])`);
/** Stands for "the rest of the line is gone"; texts have lost their own by then. */
const cleared = "\0";

/** What text does not have: replaced bytes, and control codes that move no cursor. */
const odds = new RegExp(`(?![\\t\\n\\v\\f\\r\\b${esc}])[\\ufffd\\p{Cc}]`, "gu");
/** Control codes but tab and newline. */
const invisible = /(?![\t\n])\p{Cc}/gu;

/**
 * What a terminal would show of a program's output: colours and titles are gone, and of a line that was written again
 * and again (a progress bar) the last state stands.
 */
export function terminalText(text: string): string {
  if (text.search(invisible) < 0) return text;
  const moved = text
    .replaceAll(cleared, "")
    .replaceAll("\r\n", "\n")
    .replaceAll(strings, "")
    .replaceAll(clearLine, cleared);
  const plain = linesOf(moved)
    .map((line) => lastState(line.replaceAll(sequences, "").replaceAll(escapes, "")))
    .join("\n");
  return plain.replaceAll(invisible, "");
}

/** The lines of a text; one that the cursor comes back to goes on after a carriage return. */
function linesOf(text: string): string[] {
  if (!text.includes(esc)) return text.split("\n");
  const lines = [""];
  let row = 0;
  // A pattern with a group: every second part is a move.
  for (const [index, part] of text.split(moves).entries()) {
    if (index % 2 === 0) lines[row] = lines[row] && part ? `${lines[row]}\r${part}` : `${lines[row]}${part}`;
    else if (part === "\n") {
      row += 1;
      lines[row] ??= "";
    } else row = Math.max(0, row - (Number.parseInt(part.slice(2), 10) || 1));
  }
  return lines;
}

/** A line after its carriage returns, backspaces and erasures. */
function lastState(line: string): string {
  if (!/[\r\b]/.test(line) && !line.includes(cleared)) return line;
  let shown = "";
  // The last states decide: each covers what it is long enough to cover.
  for (const state of line.split("\r").slice(-50)) {
    const written = backspaced(state.replaceAll(cleared, ""));
    shown = state.includes(cleared) ? written : written + shown.slice(written.length);
  }
  return shown.trimEnd();
}

function backspaced(text: string): string {
  if (!text.includes("\b")) return text;
  const shown: string[] = [];
  let at = 0;
  for (const character of text) {
    if (character === "\b") at = Math.max(0, at - 1);
    else {
      shown[at] = character;
      at += 1;
    }
  }
  return shown.join("");
}

/** True for what is no text: decoded, it is full of replacement characters and control codes. */
export function isBinary(text: string): boolean {
  const sample = text.slice(0, 4_096);
  if (sample.length < 16) return false;
  const odd = sample.match(odds)?.length ?? 0;
  return odd > sample.length / 10;
}
