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
