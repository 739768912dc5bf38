import { type Capabilities, SandboxError } from "@sandkit/core";
import { Approvals } from "./approval/approvals.js";
import { AuditLog } from "./audit/audit-log.js";
import { Auditor } from "./audit/auditor.js";
import type { Config } from "./config.js";
import { ConfigError } from "./load-config.js";
import { Observer } from "./observability/observer.js";
import type { Principal } from "./principal.js";
import { type PrincipalState, PrincipalStates } from "./principal-states.js";
import { ProviderSource } from "./provider.js";
import { report } from "./report.js";
import { publishNews } from "./resources/publish-news.js";
import { ResourceChanges } from "./resources/resource-changes.js";
import { Runs } from "./runs/runs.js";
import { Sandboxes } from "./sandboxes.js";
import { Snapshots } from "./snapshots.js";
import { type Surface, surfaceOf } from "./surface.js";

/** Where the config says nothing. */
const usualIdleSeconds = 1_800;

export interface RuntimeOptions {
  readonly config: Config;
  /** The file of the config: provider packages installed beside it are found. */
  readonly configPath?: string | undefined;
  /** The name of this server, where the config gives none. */
  readonly replica?: string | undefined;
  /** What a call without an id gets. */
  readonly implicit: "default" | "fresh";
}

/** What all server instances of one process share: the provider and each principal's sandboxes. */
export class Runtime {
  readonly config: Config;
  readonly #provider: ProviderSource;
  readonly #replica: string;
  readonly implicit: "default" | "fresh";
  /** When an unused sandbox ends, in seconds; the default one of stdio only where the config says so. */
  readonly idleSeconds: number;
  readonly observer = new Observer({
    sandboxes: () => sum(this.#states.all().map(({ sandboxes }) => sandboxes.size)),
    runs: () =>
      sum(this.#states.all().map(({ runs }) => runs.list().filter((run) => run.outcome === undefined).length)),
  });
  readonly approvals: Approvals;
  /** Undefined where the config names no audit log. */
  readonly auditor: Auditor | undefined;
  #surface: Surface | undefined;
  #reported: string | undefined;
  readonly #states = new PrincipalStates((principal) => this.#stateOf(principal));
  readonly #changeListeners: ((principalId: string, uri: string) => void)[] = [];

  constructor(options: RuntimeOptions) {
    this.config = options.config;
    this.#provider = new ProviderSource(options.config, options.configPath);
    this.implicit = options.implicit;
    this.approvals = new Approvals(options.config);
    this.auditor = options.config.audit && new Auditor(new AuditLog(options.config.audit));
    this.idleSeconds = options.config.idleSeconds ?? usualIdleSeconds;
    this.#replica = options.config.replica ?? options.replica ?? "server";
  }

  sandboxesOf(principal: Principal): Sandboxes {
    return this.#states.of(principal).sandboxes;
  }

  snapshotsOf(principal: Principal): Snapshots {
    return this.#states.of(principal).snapshots;
  }

  runsOf(principal: Principal): Runs {
    return this.#states.of(principal).runs;
  }

  /** Which resources of this principal change: files of sandboxes and logs of runs. */
  changesOf(principal: Principal): ResourceChanges {
    return this.#states.of(principal).changes;
  }

  #stateOf(principal: Principal): PrincipalState {
    const { config, implicit, observer } = this;
    const changes = new ResourceChanges();
    for (const listener of this.#changeListeners) changes.subscribe((uri) => listener(principal.id, uri));
    const runs = new Runs(config, config.detached ? this.#replica : undefined);
    runs.onNews((run) => publishNews(run, changes));
    runs.onNews((run) => observer.run(run));
    runs.onNews((run) => this.auditor?.run(run));
    const provider = this.#provider;
    const snapshots = new Snapshots({ config, provider, principal });
    const sandboxes = new Sandboxes({
      config,
      provider,
      principal,
      snapshots,
      observer,
      implicit,
      replica: this.#replica,
      idleMs: this.idleSeconds * 1000,
      onContact: this.auditor?.contactsOf(principal),
    });
    const isListenedTo = () => changes.listeners > this.#changeListeners.length;
    return { sandboxes, snapshots, runs, changes, isListenedTo };
  }

  /** Tells the changes of every principal, to hosts that sort out by themselves who of theirs wants to know. */
  onChange(listener: (principalId: string, uri: string) => void): void {
    this.#changeListeners.push(listener);
    for (const [id, { changes }] of this.#states.entries()) changes.subscribe((uri) => listener(id, uri));
  }

  /**
   * Fails at the start for options that the provider does not take: no call could mend that. Its package is loaded, its
   * backend is asked nothing.
   * @throws ConfigError
   */
  async checkOptions(): Promise<void> {
    // Where the config has none, a start need not wait for the package.
    if (Object.keys(this.config.options).length === 0) return;
    try {
      await this.#provider.get();
    } catch (error) {
      // A package that is missing may be there at the first call, which else tells of it.
      if (!(error instanceof SandboxError) || error.code !== "INVALID") return;
      throw new ConfigError(error.message, { cause: error });
    }
  }

  /** Loads the provider's package but asks nothing of its backend. */
  async surface(): Promise<Surface> {
    try {
      const { name, capabilities } = await this.#provider.get();
      this.#surface ??= this.#firstSurface(name, capabilities);
      return this.#surface;
    } catch (error) {
      // The tools are listed all the same: the first call tells the model what is wrong and how to fix it.
      this.#reportOnce(error);
      return surfaceOf(this.config, undefined);
    }
  }

  #firstSurface(provider: string, capabilities: Capabilities): Surface {
    const surface = surfaceOf(this.config, capabilities);
    const missing = this.config.tools.filter((tool) => !surface.optional.includes(tool));
    if (missing.length > 0)
      report(`provider "${provider}" cannot do what these tools of the config need: ${missing.join(", ")}`);
    return surface;
  }

  #reportOnce(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message === this.#reported) return;
    this.#reported = message;
    report("the provider cannot be loaded", error);
  }

  /** Ends runs, which are answered so, and sandboxes. */
  async close(): Promise<void> {
    const reason = new SandboxError("UNAVAILABLE", "the server is shutting down, and ended this run", {
      retryable: false,
    });
    this.approvals.close();
    const states = this.#states.all();
    for (const { runs } of states) for (const run of runs.list()) run.cancel(reason);
    for (const { changes } of states) changes[Symbol.dispose]();
    await Promise.all(states.map(({ sandboxes }) => sandboxes.close()));
    await this.auditor?.close();
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
