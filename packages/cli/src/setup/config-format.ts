/** A server's entry as a client's configuration has it. */
export type Entry = Readonly<Record<string, unknown>>;

/** How a kind of file holds the servers of a client. Files are changed as text: all that is theirs stays as it is. */
export interface ConfigFormat {
  /** A file that holds this entry and nothing else. */
  render(name: string, entry: Entry): string;
  /** The servers that a file names. @throws {@link UnreadableConfig} */
  read(text: string): Readonly<Record<string, unknown>>;
  /** The file with the entry added, or in place of the one of that name. @throws {@link UnreadableConfig} */
  put(text: string, name: string, entry: Entry): string;
}

/** A file that does not hold what it should, and where. */
export class UnreadableConfig extends Error {
  override readonly name = "UnreadableConfig";
  /** Counted from 1; undefined: the file as a whole. */
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** The ends of line that a text has. */
export function endOfLine(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
