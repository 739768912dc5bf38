import { randomBytes } from "node:crypto";
import { createSandbox } from "../create-sandbox.js";
import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import type { Provider } from "../provider.js";
import type { Sandbox } from "../sandbox.js";
import { Bait } from "./bait.js";
import { cleanUpCheck } from "./checks/clean-up.js";
import { filesCheck } from "./checks/files.js";
import { limitsCheck } from "./checks/limits.js";
import { networkCheck } from "./checks/network.js";
import { processesCheck } from "./checks/processes.js";
import { Inside } from "./inside.js";
import { type Check, type CheckContext, type OwnedProgram, type Sibling, toFinding } from "./probe.js";
import { type CheckName, checkTitles, type Finding, type SecurityReport, toReport } from "./report.js";

const checks: readonly Check[] = [processesCheck, filesCheck, limitsCheck, networkCheck, cleanUpCheck];

/** What is attacked, and with what. */
export interface SecurityOptions {
  readonly provider: Provider;
  /** What every attacked sandbox is made with; those for `limits` have small caps in place of theirs. */
  readonly create?: CreateOptions | undefined;
  /** Default: all five. */
  readonly only?: readonly CheckName[] | undefined;
  /**
   * The command of a program that makes a sandbox of the same provider with these labels, runs the file in it with
   * these arguments, passes its output on and waits: it is killed to see what it leaves. Without it
   * `clean-up.owner` is untried, and `ok` of the report false.
   */
  readonly owner?: ((program: OwnedProgram) => readonly string[]) | undefined;
  /** Told each finding as it is made. */
  readonly onFinding?: ((finding: Finding) => void) | undefined;
  /** Told what is being done. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Gives the checks up: they reject with the signal's reason, and leave no sandbox. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Attacks sandboxes of a provider from inside, on five checks, with programs that run in real sandboxes, and gives what
 * each attack had. Harmless to this machine and to the sandboxes of others: what is opened is not written to, and what
 * grows stops a little above the cap that should have stopped it. For its time this process has a variable
 * `SANDKIT_BAIT` and listens on a port that closes every connection.
 * @throws SandboxError when the sandboxes to be attacked cannot be made
 */
export async function runSecurityChecks(options: SecurityOptions): Promise<SecurityReport> {
  const { provider, create = {}, only, onFinding, onProgress, signal } = options;
  const chosen = checks.filter(({ name }) => only === undefined || only.includes(name));
  const made = new Made(provider, { ...create, signal });
  onProgress?.("laying out what is to be found");
  const bait = await Bait.lay();
  try {
    onProgress?.("making two sandboxes");
    const target = await made.inside();
    const sibling = await made.sibling();
    const { isolation } = target.sandbox.capabilities;
    const ownKernel = isolation === "microvm" || isolation === "gvisor";
    const findings: Finding[] = [];
    for (const check of chosen) {
      signal?.throwIfAborted();
      onProgress?.(checkTitles[check.name]);
      const context = { provider, create, bait, target, sibling, sandbox: made.inside, owner: options.owner };
      for (const finding of await findingsOf(check, context, ownKernel)) {
        findings.push(finding);
        onFinding?.(finding);
      }
    }
    return toReport(provider.name, isolation, findings);
  } finally {
    await made[Symbol.asyncDispose]();
    await bait[Symbol.asyncDispose]();
  }
}

async function findingsOf(check: Check, context: CheckContext, ownKernel: boolean): Promise<Finding[]> {
  const attacks = new Map((await check.run(context)).map((attack) => [attack.id, attack]));
  return Object.keys(check.probes).map((id) => toFinding(check, id, attacks.get(id), ownKernel));
}

/** The sandboxes of one run. */
class Made implements AsyncDisposable {
  readonly #provider: Provider;
  readonly #create: CreateOptions;
  readonly #sandboxes: Sandbox[] = [];

  constructor(provider: Provider, create: CreateOptions) {
    this.#provider = provider;
    this.#create = create;
  }

  /** A sandbox in which attacks can be made. */
  readonly inside = async (options: CreateOptions = {}): Promise<Inside> => {
    const sandbox = await createSandbox(this.#provider, { ...this.#create, ...options });
    this.#sandboxes.push(sandbox);
    const inside = await Inside.of(sandbox);
    if (inside) return inside;
    const message = "nothing can be tried in a sandbox with neither python3 nor sh: give a template that has one";
    throw new SandboxError("UNSUPPORTED", message, { provider: this.#provider.name, operation: "security" });
  };

  /** Beside the attacked one, with a process and a file to be found. */
  async sibling(): Promise<Sibling> {
    const inside = await this.inside();
    const mark = `sandkit-sibling-${randomBytes(8).toString("hex")}`;
    const file = `${inside.sandbox.workdir}/${mark}`;
    await inside.sandbox.files.write(file, mark);
    const held = await inside.hold("plain", mark, `${inside.sandbox.workdir}/beats`);
    // It ends when it is killed, or with its sandbox.
    let lives = true;
    held.wait().then(
      () => (lives = false),
      () => (lives = false),
    );
    return { mark, file, lives: () => lives };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sandboxes.map((sandbox) => sandbox.destroy()));
  }
}
