/** JSON over several lines, as people write it in configuration: a list of plain values stays on its line. */
export function prettyJson(value: unknown, unit: string): string {
  // Within strings there are no line breaks: what is matched is structure.
  return JSON.stringify(value, null, unit).replace(/\[\n\s*([^[\]{}]*?)\n\s*\]/g, (_, items: string) => {
    return `[${items.replace(/\n\s*/g, " ")}]`;
  });
}
