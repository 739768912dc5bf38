import { readFile } from "node:fs/promises";

const guest = new URL("./guest/", import.meta.url);
const helpers = ["program", "port", "watch"] as const;

/** The programs that `helpers.py` starts. */
export type HelperName = (typeof helpers)[number];

/** The command that runs one of the programs in `guest/` in a box with Python. */
export async function guestCommand(
  name: "helpers" | "metrics" | "interpreter",
  ...args: readonly string[]
): Promise<string[]> {
  return ["python3", "-I", "-S", "-u", "-c", await source(name), ...args];
}

/** What `helpers.py` starts, by name. */
export async function helperSources(): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(helpers.map(async (name) => [name, await source(name)])));
}

function source(name: string): Promise<string> {
  return readFile(new URL(`${name}.py`, guest), "utf8");
}

/** The command that runs one of the shell scripts in `guest/`. */
export async function guestScript(
  name: "session-command" | "container-program" | "container-kill",
  ...args: readonly string[]
): Promise<string[]> {
  return ["sh", "-c", await readFile(new URL(`${name}.sh`, guest), "utf8"), name, ...args];
}
