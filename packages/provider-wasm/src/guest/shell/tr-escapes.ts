const letters: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/**
 * What a backslash in a set of `tr` stands for, with the range that it begins. Called by just-bash, as it is patched:
 * its own knows no numbers.
 */
export function escapeAt(set: string, at: number): { readonly text: string; readonly length: number } {
  const first = characterAt(set, at);
  const afterDash = at + first.length + 1;
  if (set[afterDash - 1] !== "-" || afterDash >= set.length) return first;
  const last = characterAt(set, afterDash);
  const [low, high] = [first.text.charCodeAt(0), last.text.charCodeAt(0)];
  if (high < low)
    throw new Error(`tr: range-endpoints of '${set.slice(at, afterDash + last.length)}' are in reverse order`);
  const all = Array.from({ length: high - low + 1 }, (_, index) => String.fromCharCode(low + index));
  return { text: all.join(""), length: first.length + 1 + last.length };
}

function characterAt(set: string, at: number): { readonly text: string; readonly length: number } {
  if (set[at] !== "\\" || at + 1 >= set.length) return { text: set[at] ?? "", length: 1 };
  const octal = /^[0-3]?[0-7]{1,2}/.exec(set.slice(at + 1))?.[0];
  if (octal !== undefined) return { text: String.fromCharCode(Number.parseInt(octal, 8)), length: 1 + octal.length };
  const letter = set[at + 1] ?? "";
  return { text: letters[letter] ?? letter, length: 2 };
}
