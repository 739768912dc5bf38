/** How much of each part is kept. */
interface Limits {
  readonly items: number;
  readonly keys: number;
  readonly characters: number;
  readonly depth: number;
}

/** Lists and objects within each other that are shown, however little they take. */
const maxDepth = 50;
/** Numbers of more digits than a double holds: they would come out changed. */
const longNumber = /(?<=[[,:\s])-?(?:\d{16,}|\d+\.\d{18,})(?=[\s,\]}eE])/;

/**
 * JSON in fewer characters that is still JSON: lists keep their beginning and end, texts their beginning, and each says
 * what is missing. Undefined for what is no JSON, or cannot be made so short.
 */
export function cutJson(text: string, maxChars: number): string | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const indent = /^[[{]\r?\n( +|\t)/.exec(text.trimStart())?.[1];
  const attempt = (level: number): string | undefined => {
    const limits = { items: level, keys: 4 * level, characters: 20 * level, depth: Math.min(2 + level, maxDepth) };
    const json = JSON.stringify(shortened(value, limits), undefined, indent);
    return json.length <= maxChars ? json : undefined;
  };
  return largest(attempt, text.length);
}

/** The result of the largest level that gives one. */
function largest(attempt: (level: number) => string | undefined, top: number): string | undefined {
  let low = 0;
  let best: string | undefined;
  let high = 1;
  for (let found = attempt(high); found !== undefined && high < top; found = attempt(high)) {
    best = found;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = attempt(middle);
    if (found === undefined) high = middle;
    else {
      best = found;
      low = middle;
    }
  }
  return best;
}

/** Whether a text begins as JSON does. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function parsed(text: string): object | undefined {
  if (!looksLikeJson(text) || longNumber.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    // Most text that begins with a bracket is no JSON; it is cut as text.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function shortened(value: unknown, limits: Limits, level = 0): unknown {
  if (typeof value === "string") return shortenedText(value, limits.characters);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return shortenedList(value, limits, level);
  const entries = Object.entries(value);
  if (level >= limits.depth && entries.length > 0) return `… an object of ${entries.length} keys`;
  const kept = entries.slice(0, limits.keys).map(([key, item]) => [key, shortened(item, limits, level + 1)]);
  const missing = entries.length - kept.length;
  return Object.fromEntries(missing === 0 ? kept : [...kept, ["…", `${missing} more keys`]]);
}

function shortenedList(list: readonly unknown[], limits: Limits, level: number): unknown {
  if (level >= limits.depth && list.length > 0) return `… a list of ${list.length} items`;
  const shorten = (item: unknown) => shortened(item, limits, level + 1);
  if (list.length <= limits.items + 1) return list.map(shorten);
  const tail = Math.floor(limits.items / 3);
  const head = limits.items - tail;
  const missing = `… ${list.length - limits.items} of ${list.length} items left out …`;
  return [...list.slice(0, head).map(shorten), missing, ...list.slice(list.length - tail).map(shorten)];
}

function shortenedText(text: string, characters: number): string {
  if (text.length <= characters + 20) return text;
  // A surrogate pair is not cut in two.
  const end = /[\ud800-\udbff]/.test(text.charAt(characters - 1)) ? characters - 1 : characters;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}
