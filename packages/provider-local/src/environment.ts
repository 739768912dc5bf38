import { dirname } from "node:path";
import type { CreateOptions } from "@sandkit/core";
import type { Folder } from "./folder.js";

const systemPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** The environment of every program: nothing of the host's own. */
export function environment(folder: Folder, python: string, options: CreateOptions): Record<string, string> {
  const elsewhere = [python, process.execPath].map((file) => dirname(file));
  const path = new Set([...elsewhere.filter((one) => !systemPath.includes(one)), ...systemPath]);
  return {
    PATH: [...path].join(":"),
    HOME: folder.home,
    TMPDIR: folder.temporary,
    LANG: "C.UTF-8",
    ...options.env,
  };
}
