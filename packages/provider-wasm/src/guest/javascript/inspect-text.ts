/** A text as Node quotes it: in single quotes, unless others need no escapes. */
export function quoted(text: string): string {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : /`|\$\{/.test(text) ? "'" : "`";
  return mark + escaped(text, mark === "'") + mark;
}

/** A long text, each of its lines quoted by itself. */
export function quotedInLines(text: string, { indentation }: { readonly indentation: number }): string {
  const lines = text.split(/(?<=\n)/);
  return lines.map(quoted).join(` +\n${" ".repeat(indentation + 2)}`);
}

function escaped(text: string, single: boolean): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(/\\\\|\\u([0-9a-f]{4})|[\x7f-\x9f']/g, (part, code: string | undefined) => {
      if (part === "\\\\") return part;
      if (part === "'") return single ? "\\'" : part;
      if (code === undefined) return `\\x${part.charCodeAt(0).toString(16).toUpperCase()}`;
      return code.startsWith("00") ? `\\x${code.slice(2).toUpperCase()}` : part;
    });
}
