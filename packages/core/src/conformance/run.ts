import type { Capabilities } from "../capabilities.js";
import { attachSandbox, createSandbox } from "../create-sandbox.js";
import { messageOf } from "../errors.js";
import type { Provider } from "../provider.js";
import type { Sandbox } from "../sandbox.js";
import { inapplicable } from "./applicability.js";
import { within } from "./assertions.js";
import type { ConformanceCase, ConformanceContext } from "./conformance-case.js";
import { type Box, type ProbeLanguage, probeCommand, probeLanguages, programCommand, type Trait } from "./programs.js";
import type { CaseResult } from "./scorecard.js";
import { withoutStrayErrors } from "./stray-errors.js";
import { type TrackedProvider, trackProvider } from "./tracked-provider.js";

/** How long cases may take. */
export interface ConformanceTimeouts {
  /** Of one case that sets none itself, in milliseconds; default 30 s. */
  readonly caseMs?: number | undefined;
  /** Multiplies the limit of every case; default 1. */
  readonly factor?: number | undefined;
}

/** One pass of the suite over a provider: keeps the shared sandbox, runs cases one by one. */
export class ConformanceRun implements AsyncDisposable {
  readonly provider: Provider;
  readonly #skip: Readonly<Record<string, string>>;
  readonly #timeouts: ConformanceTimeouts;
  #shared: Sandbox | undefined;
  #box: Box | undefined;
  #names = 0;

  constructor(provider: Provider, skip: Readonly<Record<string, string>> = {}, timeouts: ConformanceTimeouts = {}) {
    this.provider = provider;
    this.#skip = skip;
    this.#timeouts = timeouts;
  }

  /** Runs one case. Never throws: what went wrong is in the result. */
  async run(subject: ConformanceCase): Promise<CaseResult> {
    const started = performance.now();
    const { id, title } = subject;
    const result = (outcome: Omit<CaseResult, "id" | "title" | "durationMs">): CaseResult => {
      return { id, title, ...outcome, durationMs: performance.now() - started };
    };
    const skipReason = this.#skip[id];
    try {
      const sandbox = await this.#ready();
      const box = needsBox(subject) ? await this.#findBox(sandbox) : new Map();
      const missing = inapplicable(subject, sandbox.capabilities, box);
      if (missing !== undefined && skipReason !== undefined) throw staleSkip(id, missing);
      if (missing !== undefined) return result({ outcome: "not-applicable", reason: missing });
      if (skipReason === undefined) await this.#attempt(subject, sandbox, box);
      else if (await this.#passes(subject, sandbox, box)) throw staleSkip(id, "the case passes");
    } catch (error) {
      return result({ outcome: "failed", reason: messageOf(error), error });
    }
    return result(skipReason === undefined ? { outcome: "passed" } : { outcome: "skipped", reason: skipReason });
  }

  /** What a sandbox made without options can do. */
  async capabilities(): Promise<Capabilities> {
    return (await this.#ready()).capabilities;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dropShared();
    await this.provider.close?.();
  }

  /** A skipped case must fail, and may: whatever it throws is what the skip is for. */
  async #passes(subject: ConformanceCase, sandbox: Sandbox, box: Box): Promise<boolean> {
    return this.#attempt(subject, sandbox, box).then(
      () => true,
      () => false,
    );
  }

  async #attempt(subject: ConformanceCase, sandbox: Sandbox, box: Box): Promise<void> {
    const tracked = trackProvider(this.provider);
    const limitMs = (subject.limitMs ?? this.#timeouts.caseMs ?? 30_000) * (this.#timeouts.factor ?? 1);
    const failures: unknown[] = [];
    const note = (error: unknown) => {
      failures.push(error);
    };
    try {
      const context = await this.#context(tracked, subject, sandbox, box);
      await withoutStrayErrors(() => within(limitMs, subject.id, subject.run(context)));
    } catch (error) {
      note(error);
      // What a failed case left behind must not decide over the next one.
      await this.#dropShared().catch(note);
    }
    await tracked.destroyAll().catch(note);
    if (failures.length > 1) throw new AggregateError(failures, failures.map(messageOf).join("; then: "));
    if (failures.length === 1) throw failures[0];
  }

  async #context(
    tracked: TrackedProvider,
    subject: ConformanceCase,
    shared: Sandbox,
    box: Box,
  ): Promise<ConformanceContext> {
    const { provider } = tracked;
    this.#names += 1;
    const number = this.#names;
    const directory = `conformance/${number}`;
    if (subject.needs.includes("files")) await shared.files.mkdir(directory);
    return {
      provider,
      capabilities: shared.capabilities,
      shared,
      sandbox: (options) => createSandbox(provider, options),
      attach: (ref) => attachSandbox(provider, ref),
      created: tracked.created,
      program: (name, ...args) => programCommand(box, name, args),
      path: (name) => (name === undefined ? directory : `${directory}/${name}`),
      unique: (word) => `${word}-${process.pid}-${number}`,
    };
  }

  async #ready(): Promise<Sandbox> {
    this.#shared ??= await createSandbox(this.provider);
    return this.#shared;
  }

  /** Of every shared sandbox the same: they are made alike. */
  async #findBox(sandbox: Sandbox): Promise<Box> {
    this.#box ??= await findTraits(sandbox);
    return this.#box;
  }

  async #dropShared(): Promise<void> {
    const shared = this.#shared;
    this.#shared = undefined;
    await shared?.destroy();
  }
}

/** Asking the interpreters takes longer than many a case that runs none. */
function needsBox({ programs = [], traits = [] }: ConformanceCase): boolean {
  return programs.length > 0 || traits.length > 0;
}

/** Asks each interpreter that the box says it has. */
async function findTraits(sandbox: Sandbox): Promise<Box> {
  const box = new Map<ProbeLanguage, ReadonlySet<Trait>>();
  if (!sandbox.capabilities.features["exec.argv"]) return box;
  const { shells, interpreters } = await sandbox.info();
  // A shell that is itself an emulation proves what it runs, and not how the box runs programs.
  const emulated = sandbox.capabilities.features.exec === "emulated";
  const last = probeLanguages.filter((language) => emulated && language === "sh");
  for (const language of [...probeLanguages.filter((name) => !last.includes(name)), ...last]) {
    if (![...shells, ...interpreters].includes(language)) continue;
    const result = await sandbox.exec(probeCommand(language, "traits", []));
    box.set(language, new Set(result.orThrow().stdout.text.trim().split("\n") as Trait[]));
  }
  return box;
}

function staleSkip(id: string, why: string): Error {
  return new Error(`the skip of "${id}" is stale: ${why}; remove the skip`);
}
