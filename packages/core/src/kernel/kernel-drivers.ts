import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { KernelLanguage } from "../provider.js";

/** A program that runs cells, ready to be started. */
export interface KernelDriver {
  /** Runs in the box with descriptors 3 and 4 for control. */
  readonly command: readonly string[];
  /** Goes to descriptor 3 first. */
  readonly preamble: string;
  /** The line that makes it run a cell. */
  readonly cell: (id: number, code: string) => string;
  /** How a cell is stopped: by SIGINT to the process group, or by a line `{"interrupt":id}`. */
  readonly interruptedBy: "signal" | "line";
}

/** What a language needs in the box, and what runs its cells. */
export interface KernelSupport {
  /** What must be in the PATH of the box. */
  readonly interpreter: string;
  /** What a person can do where it is not. */
  readonly fix: string;
  readonly load: () => Promise<KernelDriver>;
}

/** The languages that cells may be written in. */
export const kernelSupport: Readonly<Partial<Record<KernelLanguage, KernelSupport>>> = {
  python: {
    interpreter: "python3",
    fix: 'use template "python" or "data", or an image with Python 3.9 or later',
    load: once(loadPython),
  },
};

const guest = new URL("./guest/", import.meta.url);

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}

async function loadPython(): Promise<KernelDriver> {
  const folder = fileURLToPath(new URL("python-kernel/", guest));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".py"));
  const texts = await Promise.all(files.map((file) => readFile(`${folder}${file}`, "utf8")));
  const sources = new Map(files.map((file, index) => [file.slice(0, -".py".length), texts[index] ?? ""]));
  const bootstrap = sources.get("bootstrap") ?? "";
  sources.delete("bootstrap");
  return {
    command: ["python3", "-c", bootstrap],
    preamble: jsonLine(Object.fromEntries(sources)),
    cell: (id, code) => jsonLine({ id, code }),
    interruptedBy: "signal",
  };
}

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
