import { stackOf } from "./failures.js";
import { formatAll } from "./format.js";
import { host, print } from "./host.js";
import { type InspectOptions, inspect } from "./inspect.js";
import { tableText } from "./table.js";

/** The global `console`, over the two streams. */
export function createConsole(): Record<string, (...args: never[]) => void> {
  let indentation = "";
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const write = (stream: 1 | 2, text: string) => {
    const shown = indentation === "" ? text : indentation + text.replaceAll("\n", `\n${indentation}`);
    print(stream, `${shown}\n`);
  };
  const out = (...args: unknown[]) => write(1, formatAll(args));
  const err = (...args: unknown[]) => write(2, formatAll(args));
  const elapsed = (label: string, ...args: unknown[]) => {
    const start = starts.get(label);
    if (start === undefined) return err(`Warning: No such label '${label}' for console.time()`);
    return out(`${label}: ${durationText(host().now() - start)}`, ...args);
  };
  return {
    log: out,
    info: out,
    debug: out,
    error: err,
    warn: err,
    trace: (...args: unknown[]) => {
      const { stack } = new Error(formatAll(args));
      err(stackOf(Object.assign(new Error(formatAll(args)), { name: "Trace", stack })));
    },
    dir: (value: unknown, options?: InspectOptions) => write(1, inspect(value, options)),
    dirxml: out,
    table: (data: unknown, columns?: readonly string[]) => write(1, tableText(data, columns) ?? formatAll([data])),
    assert: (condition: unknown, ...args: unknown[]) => {
      if (condition) return;
      const [first, ...rest] = args;
      if (typeof first === "string") err(`Assertion failed: ${first}`, ...rest);
      else err("Assertion failed", ...args);
    },
    group: (...args: unknown[]) => {
      if (args.length > 0) out(...args);
      indentation += "  ";
    },
    groupCollapsed: (...args: unknown[]) => {
      if (args.length > 0) out(...args);
      indentation += "  ";
    },
    groupEnd: () => {
      indentation = indentation.slice(2);
    },
    count: (label = "default") => {
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      out(`${label}: ${count}`);
    },
    countReset: (label = "default") => {
      counts.delete(label);
    },
    time: (label = "default") => {
      starts.set(label, host().now());
    },
    timeLog: (label = "default", ...args: unknown[]) => elapsed(label, ...args),
    timeEnd: (label = "default") => {
      elapsed(label);
      starts.delete(label);
    },
  };
}

function durationText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(3)}s`;
  return `${Number(ms.toFixed(3))}ms`;
}
