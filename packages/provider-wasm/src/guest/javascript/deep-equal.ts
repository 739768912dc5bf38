/** Whether two values are the same in structure; `strict` also compares types and prototypes. */
export function isDeepEqual(a: unknown, b: unknown, strict: boolean, seen = new Map<object, object>()): boolean {
  if (strict ? Object.is(a, b) : isLooselyEqual(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Date && b instanceof Date && a.getTime() !== b.getTime()) return false;
  if (a instanceof RegExp && b instanceof RegExp && String(a) !== String(b)) return false;
  if (a instanceof Error && b instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  if (a instanceof Map && b instanceof Map) return sameMap(a, b, strict, seen);
  if (a instanceof Set && b instanceof Set) return sameSet(a, b, strict, seen);
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && isDeepEqual(member(a, key), member(b, key), strict, seen))
  );
}

function member(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function sameMap(
  a: Map<unknown, unknown>,
  b: Map<unknown, unknown>,
  strict: boolean,
  seen: Map<object, object>,
): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !isDeepEqual(value, b.get(key), strict, seen)) return false;
  return true;
}

function sameSet(a: Set<unknown>, b: Set<unknown>, strict: boolean, seen: Map<object, object>): boolean {
  if (a.size !== b.size) return false;
  const rest = [...b];
  for (const item of a) {
    const index = rest.findIndex((other) => isDeepEqual(item, other, strict, seen));
    if (index < 0) return false;
    rest.splice(index, 1);
  }
  return true;
}

/** As `==`, but that a number that is none equals itself. */
export function isLooselyEqual(a: unknown, b: unknown): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: it is what Node's `assert.equal` compares by
  return a == b || (Number.isNaN(a) && Number.isNaN(b));
}
