import { readFileSync } from "node:fs";
import { SandboxError } from "../errors.js";

/** Interpreters that the probe programs are written in, in the order of preference: `sh` starts fastest. */
export const probeLanguages = ["sh", "python3", "node"] as const;
export type ProbeLanguage = (typeof probeLanguages)[number];

/**
 * What a box turned out to have beside its declared features. `sh`, `python3`, `node`: the interpreter is there.
 * `fork`: a program can start others. `setsid`: and put them into a session of their own. `signals`: programs receive
 * signals. `procfs`: `/proc` shows the processes.
 */
export type Trait = "sh" | "python3" | "node" | "fork" | "setsid" | "signals" | "procfs";

type Requirements = Readonly<Partial<Record<ProbeLanguage, readonly Trait[]>>>;

const anywhere: Requirements = { sh: [], python3: [] };
const withFork: Requirements = { sh: ["fork"], python3: ["fork"] };
const withSessions: Requirements = { sh: ["fork", "setsid"], python3: ["setsid"] };
const withSignals: Requirements = { sh: ["signals"], python3: ["signals"] };

/** The probe programs, by name, with what each needs per language. What they do is said where they are written. */
const programs = {
  copy: anywhere,
  lines: anywhere,
  bytes: anywhere,
  slowly: anywhere,
  both: anywhere,
  flood: anywhere,
  say: anywhere,
  argv: anywhere,
  env: anywhere,
  cwd: anywhere,
  pid: anywhere,
  user: { sh: ["fork"], python3: ["fork"] },
  terminal: anywhere,
  "command-lines": { sh: ["procfs"], python3: ["procfs"] },
  exit: anywhere,
  sleep: anywhere,
  signal: withSignals,
  allocate: anywhere,
  read: anywhere,
  write: anywhere,
  size: anywhere,
  await: anywhere,
  connect: { python3: [], node: [] },
  fetch: { python3: [], node: [] },
  serve: { python3: ["fork"], node: [] },
  heartbeat: anywhere,
  child: withFork,
  "own-session": withSessions,
  "double-fork": withFork,
  daemon: withSessions,
  "ignore-term": withSignals,
  "deaf-child": { sh: ["fork", "signals"], python3: ["fork", "signals"] },
  stopped: { sh: ["signals"], python3: ["fork", "signals"] },
  "clean-up": withSignals,
  holder: withFork,
  crowd: withFork,
} as const satisfies Record<string, Requirements>;

export type ProgramName = keyof typeof programs;

/** The names of all probe programs. */
export const programNames = Object.keys(programs) as readonly ProgramName[];

/** What is known of the box: the traits that each of its interpreters found, those to be used first in front. */
export type Box = ReadonlyMap<ProbeLanguage, ReadonlySet<Trait>>;

const sources: Readonly<Record<ProbeLanguage, () => string>> = {
  sh: () => source("probe.sh"),
  python3: () => source("probe.py"),
  node: () => source("probe.cjs"),
};
const starts: Readonly<Record<ProbeLanguage, (source: string) => readonly string[]>> = {
  sh: (text) => ["sh", "-c", text, "probe"],
  python3: (text) => ["python3", "-c", text],
  node: (text) => ["node", "-e", text, "--"],
};
const loaded = new Map<string, string>();

function source(file: string): string {
  const text = loaded.get(file) ?? readFileSync(new URL(`./programs/${file}`, import.meta.url), "utf8");
  loaded.set(file, text);
  return text;
}

/** The argument list that runs a probe program in one language. */
export function probeCommand(language: ProbeLanguage, program: ProgramName | "traits", args: readonly string[]) {
  return [...starts[language](sources[language]()), program, ...args];
}

/** The first language of the box, in its order, that can run the program. */
export function languageFor(box: Box, program: ProgramName): ProbeLanguage | undefined {
  const requirements: Requirements = programs[program];
  return [...box.keys()].find((language) => {
    const found = box.get(language);
    return found && requirements[language]?.every((trait) => found.has(trait));
  });
}

/**
 * The argument list that runs a probe program in this box.
 * @throws SandboxError `UNSUPPORTED` when no interpreter of the box can
 */
export function programCommand(box: Box, program: ProgramName, args: readonly string[]): string[] {
  const language = languageFor(box, program);
  if (language) return probeCommand(language, program, args);
  const found = [...box.keys()].join(", ") || "none of sh, python3 and node";
  throw new SandboxError(
    "UNSUPPORTED",
    `the probe program "${program}" cannot run in this box (it has ${found}): name it in the case's "programs"`,
    { operation: "conformance" },
  );
}

/** Bytes as the programs `bytes` and `slowly` take them. */
export function octal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
