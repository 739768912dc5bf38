import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const usual = ["/usr/local/bin", "/usr/bin", "/bin", "/run/current-system/sw/bin"];

/** Path of a program of the machine; undefined when there is none. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(isAbsolute), ...usual];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
