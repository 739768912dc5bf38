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

  /**
   * Makes the attacks of a check, all by one program. Whatever ends that in the middle does not hide the others: they are
   * made by a further one, and the attack that it ended in is made once more.
   * @param ids Of the attacks; one that nothing is told of is left out, or untried where the program was ended.
   */
  async attack(
    program: Exclude<AttackProgram, "limits">,
    ids: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<readonly Attack[]> {
    const made = new Map<string, Attack>();
    const interrupted = new Set<string | undefined>();
    for (;;) {
      const { said, result } = await this.run(program, [], {
        env: { ...env, SANDKIT_MADE: [...made.keys()].join(" ") },
      });
      // A shell makes all of them once more: what one has had, it has had.
      for (const attack of said.attacks) if (made.get(attack.id)?.outcome !== "got") made.set(attack.id, attack);
      if (said.isWhole) break;
      if (interrupted.has(said.begun)) {
        // Twice is no accident; what filters system calls may end who makes one.
        const outcome = result.signal === "SIGSYS" && said.begun !== undefined ? "held" : "untried";
        const left = said.begun === undefined ? ids.filter((id) => !made.has(id)) : [said.begun];
        for (const id of left)
          made.set(id, { id, outcome, saw: `the program that tried it was ended: ${endOf(result)}` });
        if (said.begun === undefined) break;
      }
      interrupted.add(said.begun);
    }
    return [...made.values()];
  }

  /** Runs a program of attacks, and gives what it said. */
  async run(
    program: AttackProgram,
    args: readonly string[],
    options: ExecOptions = {},
  ): Promise<{ readonly said: Said; readonly result: ExecResult }> {
    const result = await this.sandbox.exec(this.#command(program, args), { timeoutMs: patienceMs, ...options });
    return { said: parse(result.stdout.text), result };
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

/** What a program of attacks has said. */
interface Said {
  readonly attacks: readonly Attack[];
  /** The attack that it was about to make; undefined: it has not said so. */
  readonly begun?: string | undefined;
  /** Whether it came to its end. */
  readonly isWhole: boolean;
}

function parse(text: string): Said {
  const attacks: Attack[] = [];
  let begun: string | undefined;
  for (const line of text.split("\n")) {
    const [id = "", outcome, saw] = line.split("\t");
    if (saw === undefined) continue;
    if (outcome === "done") return { attacks, isWhole: true };
    if (outcome === "begun") begun = id;
    if (outcome !== "got" && outcome !== "held" && outcome !== "untried") continue;
    attacks.push({ id, outcome, saw });
    begun = undefined;
  }
  return { attacks, begun, isWhole: false };
}

/** How a program ended, in words. */
export function endOf({ reason, signal, exitCode }: ExecResult): string {
  return `${reason} ${signal ?? exitCode ?? ""}`.trim();
}
