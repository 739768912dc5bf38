import { randomInt } from "node:crypto";

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/** An id as E2B gives them: 20 characters, the first a letter. */
export function newId(): string {
  return `i${Array.from({ length: 19 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}
