import { readFile } from "node:fs/promises";

/** Programs of ours that run inside, by `sh -c`. */
export type GuestProgram = "spawn" | "program" | "kill" | "look" | "files" | "relay";

/** Those that ask for marked processes begin with the functions for it. */
const withMarks: ReadonlySet<GuestProgram> = new Set(["spawn", "kill"]);
const loaded = new Map<GuestProgram, Promise<string>>();

/** The source text of a program for inside. */
export function guestSource(name: GuestProgram): Promise<string> {
  const text = loaded.get(name) ?? load(name);
  loaded.set(name, text);
  return text;
}

async function load(name: GuestProgram): Promise<string> {
  const read = (file: string) => readFile(new URL(`./guest/${file}.sh`, import.meta.url), "utf8");
  const texts = await Promise.all(withMarks.has(name) ? [read("marked"), read(name)] : [read(name)]);
  return texts.join("\n");
}
