import type { Capabilities, Feature } from "../capabilities.js";
import type { CreateOptions } from "../options.js";
import type { Provider, SandboxRef } from "../provider.js";
import type { Sandbox } from "../sandbox.js";
import type { ProgramName, Trait } from "./programs.js";

/** One thing that every provider does the same. Its id and title are public: skips and scorecards name them. */
export interface ConformanceCase {
  /** Stable and dotted, the group first: `exec.env.as-data`. */
  readonly id: string;
  /** The behaviour, in the present tense. */
  readonly title: string;
  /** Features that must be declared for the case to apply. */
  readonly needs: readonly Feature[];
  /** Features that must not be declared: the case proves that asking for one is refused. */
  readonly without?: readonly Feature[] | undefined;
  /** Probe programs that it runs; the box must be able to. */
  readonly programs?: readonly ProgramName[] | undefined;
  /** What else the box must have. */
  readonly traits?: readonly Trait[] | undefined;
  /** Real bug reports in other projects that it answers: `owner/repo#number`. */
  readonly reports?: readonly string[] | undefined;
  /** Longest it may take, in milliseconds; default 30 s. */
  readonly limitMs?: number | undefined;
  /** Throws when the provider does it otherwise. */
  run(context: ConformanceContext): Promise<void>;
}

/** What a case works with. */
export interface ConformanceContext {
  /** The provider under test; what is created through it is destroyed after the case. */
  readonly provider: Provider;
  /** Of the shared sandbox: the truth for sandboxes made without options. */
  readonly capabilities: Capabilities;
  /** A sandbox that all cases use: nothing in it may be taken for granted except a case's own {@link path}s. */
  readonly shared: Sandbox;
  /** A sandbox of the case's own, destroyed after it. */
  sandbox(options?: CreateOptions): Promise<Sandbox>;
  /** Another handle on a living sandbox. */
  attach(ref: SandboxRef): Promise<Sandbox>;
  /** How many sandboxes the provider has made for this case. */
  created(): number;
  /** The argument list of a probe program, in the language that the box has. */
  program(name: ProgramName, ...args: readonly string[]): string[];
  /** A relative path below the case's own directory, there for one that needs `files`; without a name, that directory. */
  path(name?: string): string;
  /** A word that nothing else in this run uses. */
  unique(word: string): string;
}
