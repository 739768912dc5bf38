import { readFile } from "node:fs/promises";
import { refusal } from "../errors.js";

/**
 * The text of a file; undefined when there is none.
 * @throws SandboxError `INVALID` for one that cannot be read
 */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw refusal("INVALID", `${path} cannot be read (${code}): make it readable`, "connect");
  }
}

/** @throws SandboxError `INVALID` for a file that is no JSON */
export function parseSettings<T>(path: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw refusal("INVALID", `${path} is no JSON: repair it, or give the option "host"`, "connect");
  }
}
