import { type InspectOptions, inspect } from "./inspect.js";
import { isError } from "./inspect-kinds.js";

/** As `util.format`: placeholders in a first text, everything else after it. */
export function formatAll(args: readonly unknown[], options: InspectOptions = {}): string {
  const [first] = args;
  let next = 0;
  const texts: string[] = [];
  if (typeof first === "string") {
    next = 1;
    texts.push(
      args.length === 1
        ? first
        : first.replace(/%[sdifjoOc%]/g, (mark) => {
            if (mark === "%%") return "%";
            if (next >= args.length) return mark;
            const value = args[next];
            next += 1;
            return placed(mark, value, options);
          }),
    );
  }
  for (const value of args.slice(next)) texts.push(typeof value === "string" ? value : inspect(value, options));
  return texts.join(" ");
}

function placed(mark: string, value: unknown, options: InspectOptions): string {
  if (mark === "%c") return "";
  if (mark === "%j") return json(value);
  if (mark === "%o") return inspect(value, { ...options, showHidden: true, depth: 4 });
  if (mark === "%O") return inspect(value, options);
  if (mark === "%s") {
    if (typeof value === "object" && value !== null && !isError(value)) return inspect(value, { ...options, depth: 0 });
    return typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : String(value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol" || typeof value === "object")
    return mark === "%d" && value !== null && typeof value === "object" ? `${Number(value)}` : "NaN";
  const number =
    mark === "%d"
      ? Number(value)
      : mark === "%i"
        ? Number.parseInt(String(value), 10)
        : Number.parseFloat(String(value));
  return Object.is(number, -0) ? "-0" : `${number}`;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "undefined";
  } catch (error) {
    if (error instanceof TypeError && /circular/i.test(error.message)) return "[Circular]";
    throw error;
  }
}
