/** From the most to the least that is told; `silent` tells nothing. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

/** How much is told on stderr. */
export type LogLevel = (typeof logLevels)[number];

/** What is told beside the message. */
export type LogFields = Readonly<Record<string, unknown>>;

const maxChars = 2_000;
let least: LogLevel = levelOf(process.env.LOG_LEVEL) ?? "warn";

/** The level of that name; undefined for none and for a wrong one. */
export function levelOf(name: string | undefined): LogLevel | undefined {
  return logLevels.find((level) => level === name);
}

/** Tells this level and those above from now on. */
export function setLogLevel(level: LogLevel): void {
  least = level;
}

/**
 * Lines on stderr for whoever runs the server: JSON, one object a line; on a terminal words. Stdout belongs to the
 * protocol.
 */
export const log = {
  debug: (message: string, fields?: LogFields) => write("debug", message, fields),
  info: (message: string, fields?: LogFields) => write("info", message, fields),
  warn: (message: string, fields?: LogFields) => write("warn", message, fields),
  error: (message: string, fields?: LogFields) => write("error", message, fields),
};

function write(level: Exclude<LogLevel, "silent">, message: string, fields: LogFields = {}): void {
  if (logLevels.indexOf(level) < logLevels.indexOf(least)) return;
  const told = Object.entries(fields).filter(([, value]) => value !== undefined);
  const time = new Date().toISOString();
  const line = process.stderr.isTTY
    ? [
        time.slice(11, 19),
        level.padEnd(5),
        clean(message),
        ...told.map(([name, value]) => `${name}=${word(value)}`),
      ].join(" ")
    : JSON.stringify({ time, level, message: clean(message), ...Object.fromEntries(told.map(tidy)) });
  process.stderr.write(`${line}\n`);
}

function tidy([name, value]: [string, unknown]): [string, unknown] {
  return [name, typeof value === "string" ? clean(value) : value];
}

function word(value: unknown): string {
  const text = clean(typeof value === "string" ? value : JSON.stringify(value));
  return /\s/.test(text) ? JSON.stringify(text) : text;
}

/** A message may hold what a client sent: lines, control characters, any length. */
function clean(text: string): string {
  return text.slice(0, maxChars).replaceAll(/[\s\p{Cc}]+/gu, " ");
}
