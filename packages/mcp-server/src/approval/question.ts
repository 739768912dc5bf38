import { SandboxError } from "@sandkit/core";
import type { Config } from "../config.js";

/** Longest question, in characters: nobody reads more before they say yes. */
const maxChars = 60_000;

/** What a tool is about to do. */
export interface Act {
  /** Goes after "May this client": `run python code`. */
  readonly act: string;
  /** What is run or written, exactly. */
  readonly text?: string | undefined;
  /** Which parameter `text` is. */
  readonly parameter?: string | undefined;
  /** True when it does more than look. */
  readonly changes: boolean;
}

/** A call as a person judges it: what it does, where, every parameter, and the text that is run or written. */
export function questionOf(
  act: Act,
  input: Readonly<Record<string, unknown>>,
  { config, implicit }: { readonly config: Config; readonly implicit: "default" | "fresh" },
): string {
  const { sandbox_id: id, ...rest } = input;
  const others = Object.entries(rest).filter(([name, value]) => name !== act.parameter && value !== undefined);
  const network = config.defaults.network ?? "none";
  const reach = typeof network === "string" ? network : network.allow.join(", ");
  const sandbox = id === undefined ? (implicit === "default" ? "the default one" : "a new one") : String(id);
  const question = [
    `May this client ${act.act}?`,
    `sandbox: ${sandbox} (${config.provider}, network: ${reach})`,
    ...others.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`),
    ...(act.text === undefined ? [] : ["", act.text]),
  ].join("\n");
  if (question.length <= maxChars) return visible(question);
  throw new SandboxError(
    "TOO_LARGE",
    `a person has to approve this call and is shown all of it, but it has ${question.length} characters of ${maxChars}: do it in smaller parts`,
  );
}

/** Characters that could make a text look like another one are written out. */
function visible(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
