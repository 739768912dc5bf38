/** Deepest nesting and most values that JSON from a box may hold: what any reader of JSON can take. */
const deepest = 1000;
const mostValues = 4_000_000;

const codes = {
  quote: 0x22,
  comma: 0x2c,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** What may spell `__proto__`, also with escapes. */
const suspicious = /__proto__|\\u00[5-7]/i;

/**
 * Reads JSON that a box wrote. Keys `__proto__` are dropped, so that no reader of it can be made to follow one.
 * @throws Error for what is no JSON, and for what takes little text and very much memory or stack
 */
export function parseModestJson(json: string): unknown {
  assertModest(json);
  if (!suspicious.test(json)) return JSON.parse(json);
  return JSON.parse(json, (key, value) => (key === "__proto__" ? undefined : value));
}

function assertModest(json: string): void {
  let [depth, values, inText] = [0, 0, false];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (inText) {
      if (code === codes.backslash) index += 1;
      else inText = code !== codes.quote;
      continue;
    }
    if (code === codes.quote) inText = true;
    else if (code === codes.comma) values += 1;
    else if (code === codes.openArray || code === codes.openObject) {
      depth += 1;
      values += 1;
      if (depth > deepest) throw new Error("it is nested too deep");
    } else if (code === codes.closeArray || code === codes.closeObject) depth -= 1;
    if (values > mostValues) throw new Error("it has too many parts");
  }
}
