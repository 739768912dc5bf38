import type { CreateOptions } from "../options.js";
import type { Provider } from "../provider.js";
import type { Bait } from "./bait.js";
import type { Inside } from "./inside.js";
import type { CheckName, Finding, Outcome, Severity } from "./report.js";

/** What is said of one attack wherever it is made. */
interface Probe {
  /** What must be true. */
  readonly title: string;
  readonly severity: Severity;
  readonly fix: string;
  /** A box with a kernel of its own (a microVM, gVisor) may have it: it is no way out of there. */
  readonly withinOwnKernel?: boolean | undefined;
}

/** What one attack had. `got`: what it wanted; `permitted`: what the caller's own options give. */
export interface Attack {
  readonly id: string;
  readonly outcome: "got" | "held" | "permitted" | "untried";
  readonly saw: string;
}

/** One of the five, with all attacks that it makes. */
export interface Check {
  readonly name: CheckName;
  readonly probes: Readonly<Record<string, Probe>>;
  /** Makes the attacks; those that are not among what it gives count as untried. */
  readonly run: (context: CheckContext) => Promise<readonly Attack[]>;
}

/** What the attacks are made with. */
export interface CheckContext {
  readonly provider: Provider;
  /** What every attacked sandbox is made with. */
  readonly create: CreateOptions;
  readonly bait: Bait;
  /** The sandbox that is attacked from inside. */
  readonly target: Inside;
  /** Another of the same making, with a file and a process to be found. */
  readonly sibling: Sibling;
  /** A further sandbox, ended after the check. */
  readonly sandbox: (options?: CreateOptions) => Promise<Inside>;
  /** The command of a program that makes such a sandbox and runs what waits in it: see `SecurityOptions`. */
  readonly owner?: ((program: OwnedProgram) => readonly string[]) | undefined;
}

/** A program in a sandbox that another program of this machine shall own. */
export interface OwnedProgram {
  /** Path of its source on this machine. */
  readonly file: string;
  readonly args: readonly string[];
  /** Labels that the sandbox shall carry, for it to be found. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A sandbox beside the attacked one. */
export interface Sibling {
  /** In the command line of its process and in its file. */
  readonly mark: string;
  /** Absolute path of its file. */
  readonly file: string;
  /** Whether its process still runs. */
  readonly lives: () => boolean;
}

const nothingTries = "nothing in the box can try it: take a template with python3, which can try more than a shell";

/** What an attack means for the sandbox. */
export function toFinding(check: Check, id: string, attack: Attack | undefined, ownKernel: boolean): Finding {
  const probe = check.probes[id];
  if (!probe) throw new Error(`check "${check.name}" has no probe "${id}"`);
  const { title, severity, fix, withinOwnKernel } = probe;
  const about = { id, check: check.name, title, severity } as const;
  if (!attack) return { ...about, outcome: "untried", evidence: nothingTries };
  const excused = attack.outcome === "got" && ownKernel && withinOwnKernel;
  const outcome: Outcome = excused ? "held" : attack.outcome === "got" ? "failed" : attack.outcome;
  const evidence = excused ? `${attack.saw} (its kernel is its own: no way out)` : attack.saw;
  return { ...about, outcome, evidence, ...(outcome === "failed" && { fix }) };
}
