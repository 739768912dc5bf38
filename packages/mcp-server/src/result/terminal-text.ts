const [esc, bell, csi] = ["\x1b", "\x07", "\x9b"];
const pattern = (source: string) => new RegExp(source, "g");

// Of ECMA-48: strings that end by BEL or ST (titles, hyperlinks), control sequences, and single escapes.
const strings = pattern(`${esc}[\\]PX^_][^${bell}${esc}]*(?:${bell}|${esc}\\\\|$)`);
const sequences = pattern(`(?:${esc}\\[|${csi})[0-?]*[ -/]*[@-~]`);
const escapes = pattern(`${esc}[ -/]*[0-~]?`);
// A line is taken back and written again: what a progress bar of several lines does.
const upAndClear = pattern(`\\n?${esc}\\[\\d*A(?:\\r|${esc}\\[2?K)*`);
const clearLine = pattern(`${esc}\\[[012]?K`);
/** What text does not have: replaced bytes, and control codes that move no cursor. */
const odds = /(?![\t\n\v\f\r])[\ufffd\p{Cc}]/gu;
/** Control codes but tab and newline. */
const invisible = /(?![\t\n])\p{Cc}/gu;

/**
 * What a terminal would show of a program's output: colours and titles are gone, and of a line that was written again
 * and again (a progress bar) the last state stands.
 */
export function terminalText(text: string): string {
  const plain = text
    .replaceAll("\r\n", "\n")
    .replaceAll(strings, "")
    .replaceAll(upAndClear, "\r")
    .replaceAll(clearLine, "")
    .replaceAll(sequences, "")
    .replaceAll(escapes, "");
  const lines = plain.includes("\r") || plain.includes("\b") ? plain.split("\n").map(lastState).join("\n") : plain;
  return lines.replaceAll(invisible, "");
}

/** A line after its carriage returns and backspaces. */
function lastState(line: string): string {
  const states = line.split("\r");
  if (states.length === 1 && !line.includes("\b")) return line;
  let shown = "";
  // The last states decide: each covers what it is long enough to cover.
  for (const state of states.slice(-50)) {
    const written = backspaced(state);
    shown = written + shown.slice(written.length);
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
