import type { ScriptNode, WordNode } from "just-bash";

type Part = WordNode["parts"][number];
type BraceItem = Extract<Part, { type: "BraceExpansion" }>["items"][number];

/** just-bash makes no more words of braces than this, and says nothing of those it leaves out. */
const mostWords = 10_000;
const refusal = `more than ${mostWords} words: use seq or a loop`;

/** Has words with too large braces fail, where they would be cut short without a word. */
export function refuseLargeBraces(script: ScriptNode): void {
  const waiting: unknown[] = [script];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (isWord(next) && wordsOf(next) > mostWords) next.parts = [failure()];
    waiting.push(...Object.values(next));
  }
}

function isWord(value: object): value is WordNode {
  return "type" in value && value.type === "Word" && "parts" in value && Array.isArray(value.parts);
}

function wordsOf({ parts }: WordNode): number {
  return parts.reduce(
    (words, part) => (part.type === "BraceExpansion" ? words * sum(part.items.map(countOf)) : words),
    1,
  );
}

function countOf(item: BraceItem): number {
  if (item.type === "Word") return wordsOf(item.word);
  const [start, end] = [item.start, item.end].map((side) => (typeof side === "number" ? side : side.charCodeAt(0)));
  return Math.floor(Math.abs((end ?? 0) - (start ?? 0)) / Math.max(1, Math.abs(item.step ?? 1))) + 1;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** `${braces?…}` of a variable that is not set: the shell ends with the message. */
function failure(): Part {
  const word: WordNode = { type: "Word", parts: [{ type: "Literal", value: refusal }] };
  const operation = { type: "ErrorIfUnset", word, checkEmpty: false } as const;
  return { type: "ParameterExpansion", parameter: "braces", operation };
}
