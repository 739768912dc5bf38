import { readFile } from "node:fs/promises";

/** A program that runs inside, found beside the built module as it is beside the source. */
export function guestFile(name: string): Promise<string> {
  return readFile(new URL(`./guest/${name}`, import.meta.url), "utf8");
}
