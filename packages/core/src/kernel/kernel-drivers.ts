import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { KernelLanguage } from "../provider.js";
import { loadJavaScript, loadTypeScript, type PrepareCell } from "./javascript-source.js";

/** A program that runs cells, ready to be started. */
export interface KernelDriver {
  /** Runs in the box with descriptors 3 and 4 for control. */
  readonly command: readonly string[];
  /** Goes to descriptor 3 first. */
  readonly preamble: string;
  /** The line that makes it run a cell. */
  readonly cell: (id: number, code: string) => string;
  /**
   * How a cell is stopped: by SIGINT to the process group, by one that is repeated while it has no effect (a shell
   * that is about to start a program hands it to nobody), or by a line `{"interrupt":id}`.
   */
  readonly interruptedBy: "signal" | "signals" | "line";
}

/** What a language needs in the box, and what runs its cells. */
export interface KernelSupport {
  /** What must be in the PATH of the box. */
  readonly interpreter: string;
  /** What a person can do where it is not. */
  readonly fix: string;
  readonly load: () => Promise<KernelDriver>;
}

const nodeFix = 'use template "node" or "typescript", or an image with Node 18 or later';

/** The languages that cells may be written in. */
export const kernelSupport: Readonly<Partial<Record<KernelLanguage, KernelSupport>>> = {
  python: {
    interpreter: "python3",
    fix: 'use template "python" or "data", or an image with Python 3.9 or later',
    load: once(loadPython),
  },
  javascript: { interpreter: "node", fix: nodeFix, load: once(() => loadNode(loadJavaScript)) },
  typescript: { interpreter: "node", fix: nodeFix, load: once(() => loadNode(loadTypeScript)) },
  bash: {
    interpreter: "bash",
    fix: "use an image with bash 4.1 or later",
    load: once(loadBash),
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
  const { bootstrap, preamble } = await loadSources("python-kernel/", ".py");
  return {
    command: ["python3", "-c", bootstrap],
    preamble,
    cell: (id, code) => jsonLine({ id, code }),
    interruptedBy: "signal",
  };
}

/** Bash reads cells as its input; what it says of its start as an interactive shell without a terminal is left out. */
async function loadBash(): Promise<KernelDriver> {
  return {
    command: ["bash", "-c", "exec bash --noprofile --norc --noediting -i +m <&3 3<&- 5>&2 2>/dev/null"],
    preamble: await readFile(new URL("bash-kernel.sh", guest), "utf8"),
    cell: (id, code) => `__sandkit_begin ${id} '${code.replaceAll("'", "'\\''")}'\n`,
    interruptedBy: "signals",
  };
}

/** Without the flag, Node takes a timer that was interrupted for a sign of a damaged process, and aborts. */
async function loadNode(load: () => Promise<PrepareCell>): Promise<KernelDriver> {
  const [prepare, { bootstrap, preamble }] = await Promise.all([load(), loadSources("javascript-kernel/", ".cjs")]);
  return {
    command: ["node", "--no-force-async-hooks-checks", "--input-type=commonjs", "-e", bootstrap],
    preamble,
    cell: (id, code) => jsonLine({ id, ...prepare(code) }),
    interruptedBy: "line",
  };
}

/** The modules of a driver, in the line that its bootstrap reads. */
async function loadSources(
  name: string,
  extension: string,
): Promise<{ readonly bootstrap: string; readonly preamble: string }> {
  const folder = fileURLToPath(new URL(name, guest));
  const files = (await readdir(folder)).filter((file) => file.endsWith(extension));
  const texts = await Promise.all(files.map((file) => readFile(`${folder}${file}`, "utf8")));
  const sources = new Map(files.map((file, index) => [file.slice(0, -extension.length), texts[index] ?? ""]));
  const bootstrap = sources.get("bootstrap") ?? "";
  sources.delete("bootstrap");
  return { bootstrap, preamble: jsonLine(Object.fromEntries(sources)) };
}

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
