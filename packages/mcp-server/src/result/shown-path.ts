/** What breaks a line, moves a cursor, or turns the direction of what follows. */
const disturbing = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A path in one line, as it reads: a program may name a file so that its name looks like more of the answer. */
export function shownPath(path: string): string {
  return path.replaceAll(disturbing, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}
