import { readFileSync } from "node:fs";

/** The text of a script that runs in sandboxes. */
export function guestScript(name: string): string {
  return readFileSync(new URL(`./guest/${name}`, import.meta.url), "utf8");
}
