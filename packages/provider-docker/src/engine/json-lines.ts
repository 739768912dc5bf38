import type { Readable } from "node:stream";

const maxLineLength = 1024 * 1024;

/** The JSON objects that the engine streams while it works, one a line. */
export async function* jsonLines(stream: Readable): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const text of stream) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineLength) throw new Error("the engine sent a line without end");
    for (const line of lines) yield* parsed(line);
  }
  yield* parsed(rest);
}

function* parsed(line: string): Generator<Readonly<Record<string, unknown>>> {
  if (line.trim() === "") return;
  const value: unknown = JSON.parse(line);
  if (value && typeof value === "object") yield value as Readonly<Record<string, unknown>>;
}
