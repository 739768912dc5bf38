/** Beside the record in the metadata of every sandbox that Sandkit makes: all of them are found by it. */
export const managed: Readonly<Record<string, string>> = { "sandkit.managed": "true" };

/** Of one creation alone, known before E2B has given an id: what it may have left is found by it. */
export function markedAs(mark: string): Record<string, string> {
  return { "sandkit.mark": mark };
}
