/** A line that somebody else may have written, without what would steer the terminal, or begin a line of its own. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "\u{fffd}");
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "\u{fffd}");
}
