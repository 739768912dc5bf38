import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ExecResult } from "../exec.js";
import type { ExecOptions } from "../options.js";
import type { Process } from "../process.js";
import type { Sandbox } from "../sandbox.js";
import type { Attack } from "./probe.js";

/** Interpreters that the attacks are written in, the better first: Python tries what a shell cannot. */
export type AttackLanguage = "python3" | "sh";
/** The programs of the attacks, each with all of one check but `limits`, which makes the one that its first argument names. */
export type AttackProgram = "processes" | "files" | "network" | "limits";

const programs = new URL("./programs/", import.meta.url);
/** In the box both are one program. */
const importOfShared = /^from attack import .*\n/m;
const patienceMs = 60_000;

/** A sandbox, and how programs that attack it are run in it. */
export class Inside {
  readonly sandbox: Sandbox;
  readonly language: AttackLanguage;

  private constructor(sandbox: Sandbox, language: AttackLanguage) {
    this.sandbox = sandbox;
    this.language = language;
  }

  /** Undefined where the sandbox has neither Python nor a shell: nothing can be tried there. */
  static async of(sandbox: Sandbox): Promise<Inside | undefined> {
    const { interpreters, shells } = await sandbox.info();
    if (interpreters.includes("python3")) return new Inside(sandbox, "python3");
    return shells.includes("sh") ? new Inside(sandbox, "sh") : undefined;
  }

  /** Makes the attacks of a program, and gives what each had. */
  async attack(
    program: AttackProgram,
    args: readonly string[],
    options: ExecOptions = {},
  ): Promise<{ readonly attacks: readonly Attack[]; readonly result: ExecResult }> {
    const result = await this.sandbox.exec(this.#command(program, args), { timeoutMs: patienceMs, ...options });
    return { attacks: parse(result.stdout.text), result };
  }

  /** Starts a program that waits, with a mark in its command line, and beats in a file; resolves once it is there. */
  async hold(kind: "plain" | "deaf", mark: string, beats: string): Promise<Process> {
    const held = await this.sandbox.spawn(holdCommand(this.language, kind, mark, beats));
    for await (const _ of held.stdout) return held;
    const { exitCode, stderr } = await held.wait();
    throw new Error(`the program that waits to be found ended with ${exitCode}: ${stderr.text}`);
  }

  #command(program: AttackProgram, args: readonly string[]): readonly string[] {
    if (this.language === "sh") return ["sh", "-c", source("attack.sh"), "attack", program, ...args];
    return ["python3", "-c", source("attack.py") + source(`${program}.py`).replace(importOfShared, ""), ...args];
  }
}

function source(file: string): string {
  return readFileSync(new URL(file, programs), "utf8");
}

/** The path of the program that waits to be found, on this machine. */
export function holdFile(language: AttackLanguage): string {
  return fileURLToPath(new URL(language === "sh" ? "hold.sh" : "hold.py", programs));
}

/** The command of the program that waits to be found. */
export function holdCommand(language: AttackLanguage, kind: "plain" | "deaf", mark: string, beats: string): string[] {
  const start = language === "sh" ? ["sh", "-c", source("hold.sh"), "hold"] : ["python3", "-c", source("hold.py")];
  return [...start, kind, mark, beats];
}

function parse(text: string): Attack[] {
  return text.split("\n").flatMap((line) => {
    const [id, outcome, saw] = line.split("\t");
    if (id === undefined || saw === undefined) return [];
    return outcome === "got" || outcome === "held" || outcome === "untried" ? [{ id, outcome, saw }] : [];
  });
}
