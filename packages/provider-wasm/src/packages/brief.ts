const longest = 100;

/** As much of what a guest or an index has written as a message takes. */
export function brief(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
