import { isDeepEqual, isLooselyEqual } from "./deep-equal.js";
import { inspect } from "./inspect.js";

type Expected = RegExp | ((...args: never[]) => unknown) | object;

class AssertionError extends Error {
  readonly code = "ERR_ASSERTION";
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;

  constructor(options: { message?: string; actual?: unknown; expected?: unknown; operator?: string }) {
    super(options.message);
    this.name = "AssertionError";
    this.actual = options.actual;
    this.expected = options.expected;
    this.operator = options.operator ?? "fail";
  }
}

function check(
  holds: boolean,
  message: unknown,
  text: string,
  facts: { actual: unknown; expected?: unknown; operator: string },
): void {
  if (holds) return;
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message === undefined ? text : String(message), ...facts });
}

function comparison(operator: string, compare: (a: unknown, b: unknown) => boolean, problem: string) {
  return (actual: unknown, expected: unknown, message?: unknown): void =>
    check(compare(actual, expected), message, `${problem}:\n\n${inspect(actual)} !== ${inspect(expected)}\n`, {
      actual,
      expected,
      operator,
    });
}

const ok = (value: unknown, message?: unknown): void =>
  check(Boolean(value), message, "The expression evaluated to a falsy value", {
    actual: value,
    expected: true,
    operator: "==",
  });

function thrown(action: () => unknown): { readonly error: unknown } | undefined {
  try {
    action();
  } catch (error) {
    return { error };
  }
  return undefined;
}

function fits(error: unknown, expected: Expected | undefined): boolean {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected !== "function") {
    return Object.entries(expected).every(([key, value]) => {
      const actual = (error as Record<string, unknown>)[key];
      return value instanceof RegExp && typeof actual === "string"
        ? value.test(actual)
        : isDeepEqual(actual, value, true);
    });
  }
  if (expected.prototype !== undefined && error instanceof (expected as never)) return true;
  return (
    !(expected.prototype instanceof Error) &&
    expected !== (Error as unknown) &&
    Reflect.apply(expected, {}, [error]) === true
  );
}

function checkThrown(
  found: { readonly error: unknown } | undefined,
  expected: Expected | undefined,
  problem: string,
): void {
  if (!found) throw new AssertionError({ message: problem, operator: "throws" });
  if (!fits(found.error, expected)) throw found.error;
}

/** Node's `assert`. */
export const assert = Object.assign(ok, {
  AssertionError,
  ok,
  equal: comparison("==", isLooselyEqual, "Expected values to be loosely equal"),
  notEqual: comparison("!=", (a, b) => !isLooselyEqual(a, b), "Expected values not to be loosely equal"),
  strictEqual: comparison("strictEqual", Object.is, "Expected values to be strictly equal"),
  notStrictEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b), "Expected values not to be strictly equal"),
  deepEqual: comparison("deepEqual", (a, b) => isDeepEqual(a, b, false), "Expected values to be loosely deep-equal"),
  deepStrictEqual: comparison(
    "deepStrictEqual",
    (a, b) => isDeepEqual(a, b, true),
    "Expected values to be strictly deep-equal",
  ),
  notDeepEqual: comparison(
    "notDeepEqual",
    (a, b) => !isDeepEqual(a, b, false),
    "Expected values not to be loosely deep-equal",
  ),
  notDeepStrictEqual: comparison(
    "notDeepStrictEqual",
    (a, b) => !isDeepEqual(a, b, true),
    "Expected values not to be deep-equal",
  ),
  match: (text: string, pattern: RegExp, message?: unknown): void =>
    check(
      pattern.test(text),
      message,
      `The input did not match the regular expression ${pattern}. Input:\n\n${inspect(text)}\n`,
      { actual: text, expected: pattern, operator: "match" },
    ),
  doesNotMatch: (text: string, pattern: RegExp, message?: unknown): void =>
    check(!pattern.test(text), message, `The input was expected to not match ${pattern}`, {
      actual: text,
      expected: pattern,
      operator: "doesNotMatch",
    }),
  fail: (message: unknown = "Failed"): never => {
    throw message instanceof Error ? message : new AssertionError({ message: String(message) });
  },
  throws: (action: () => unknown, expected?: Expected): void =>
    checkThrown(thrown(action), expected, "Missing expected exception."),
  doesNotThrow: (action: () => unknown): void => void action(),
  rejects: async (action: Promise<unknown> | (() => Promise<unknown>), expected?: Expected): Promise<void> => {
    const found = await (typeof action === "function" ? action() : action).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    checkThrown(found, expected, "Missing expected rejection.");
  },
  ifError: (value: unknown): void => {
    if (value !== null && value !== undefined) throw value;
  },
});
Object.assign(assert, { strict: assert });
