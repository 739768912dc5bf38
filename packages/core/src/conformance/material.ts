/** Strings that break whatever pastes them into a command line, a path or a protocol. */
export const awkwardValues: readonly string[] = [
  "two words",
  " leading and trailing ",
  "'single'",
  '"double"',
  "back\\slash",
  "line\nbreak",
  "tab\tand\rreturn",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell would expand is the point
  "$HOME ${HOME} $(id) `id`",
  "; echo broken; #",
  "&& false || true",
  "100%s %d %%",
  "-dash",
  "--",
  "*?[a-z]{1,2}~!",
  "a=b=c",
  "grüße 漢字 🎈",
  "\u001b[31mred",
];

/** Names that files may have, by the reason why they are hard. */
export const awkwardNames: Readonly<Record<string, string>> = {
  spaces: " two  words ",
  quotes: `it's "quoted"`,
  newline: "line\nbreak\ttab",
  unicode: "grüße-漢字-🎈",
  combining: "e\u0301-and-\u00e9",
  dash: "-rf",
  dot: ".hidden",
  substitution: "$(touch substituted)`touch substituted`",
  variable: "$HOME",
  percent: "100%25%2e%2e%s",
  backslash: "back\\slash\\n",
  glob: "*?[a]",
  separators: "a;b&c|d>e<f#g:h",
  controls: "\u001b[31mred\u0007\u007f",
  long: `${"n".repeat(250)}.txt`,
};

/** The fields of an output that ends each with NUL. */
export function splitNul(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString("utf8").split("\0").slice(0, -1);
}

/** Every byte value, several times, in an order that is no valid text. */
export const allBytes: Uint8Array = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7) % 256);

/** Text whose characters are 1, 2, 3 and 4 bytes long. */
export const multibyte = "aé漢🎈";

/** Deterministic bytes that do not repeat in short periods. */
export function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
