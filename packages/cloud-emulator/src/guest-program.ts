import { readFile } from "node:fs/promises";

const guest = new URL("./guest/", import.meta.url);

/** The command that runs one of the programs in `guest/` in a box with Python. */
export async function guestCommand(
  name: "program" | "port" | "metrics" | "watch",
  ...args: readonly string[]
): Promise<string[]> {
  const source = await readFile(new URL(`${name}.py`, guest), "utf8");
  return ["python3", "-I", "-S", "-u", "-c", source, ...args];
}

/** The command that runs one of the shell scripts in `guest/`. */
export async function guestScript(name: "session-command", ...args: readonly string[]): Promise<string[]> {
  return ["sh", "-c", await readFile(new URL(`${name}.sh`, guest), "utf8"), name, ...args];
}
