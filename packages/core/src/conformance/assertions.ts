import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, SandboxError } from "../errors.js";

/**
 * Expects a rejection with one of the codes and with every one of the words in its message.
 * @returns the error, for a closer look
 */
export async function rejects(
  promise: Promise<unknown>,
  code: ErrorCode | readonly ErrorCode[],
  ...words: readonly string[]
): Promise<SandboxError> {
  const codes: readonly ErrorCode[] = typeof code === "string" ? [code] : code;
  const error = await failure(promise, `SandboxError ${codes.join(" or ")}`);
  if (!(error instanceof SandboxError)) {
    throw new Error(`expected SandboxError ${codes.join(" or ")}, got ${describe(error)}`, { cause: error });
  }
  if (!codes.includes(error.code)) {
    throw new Error(`expected ${codes.join(" or ")}, got ${error.code}: ${error.message}`, { cause: error });
  }
  for (const word of words) {
    assert.ok(error.message.includes(word), `the message does not name "${word}": ${error.message}`);
  }
  return error;
}

/** What a promise rejects with; fails when it resolves. */
export async function failure(promise: Promise<unknown>, expected = "a rejection"): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected ${expected}, but it resolved with ${describe(value)}`);
}

/** Equal byte for byte; the message shows the first difference and never the whole. */
export function equalBytes(actual: Uint8Array, expected: Uint8Array, what = "bytes"): void {
  if (Buffer.compare(actual, expected) === 0) return;
  const length = Math.min(actual.length, expected.length);
  let at = 0;
  while (at < length && actual[at] === expected[at]) at++;
  const around = (bytes: Uint8Array) => Buffer.from(bytes.subarray(at, at + 16)).toString("hex") || "the end";
  throw new Error(
    `${what}: ${actual.length} bytes instead of ${expected.length}; at ${at}: ${around(actual)} instead of ${around(expected)}`,
  );
}

/** Waits until the check gives something other than undefined, null or false. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 10_000,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(25);
  }
}

/** A number once it has stopped to change for half a second. */
export async function settled(read: () => Promise<number>): Promise<number> {
  let last = await read();
  for (;;) {
    await pause(500);
    const next = await read();
    if (next === last) return next;
    last = next;
  }
}

/** Fails when the promise takes longer; the bound is for hangs, not for speed. */
export async function within<T>(withinMs: number, what: string, promise: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = pause(withinMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${what}: not settled after ${withinMs} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
