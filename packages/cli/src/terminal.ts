const styles = { bold: 1, dim: 2, red: 31, green: 32, cyan: 36 } as const;

/** Paints text when the stream is a terminal that takes colour. */
export type Paint = (style: keyof typeof styles, text: string) => string;

/**
 * How to paint for a stream: `NO_COLOR`, `--no-color` and `TERM=dumb` switch colour off, `FORCE_COLOR` switches it on
 * without a terminal.
 */
export function paintFor(stream: NodeJS.WriteStream, noColor = process.argv.includes("--no-color")): Paint {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== "0";
  const wanted = !noColor && !NO_COLOR && (forced || (stream.isTTY === true && TERM !== "dumb"));
  return (style, text) => (wanted ? `\u001b[${styles[style]}m${text}\u001b[0m` : text);
}
