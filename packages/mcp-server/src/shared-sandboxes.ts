import { attachSandbox, type CreateOptions, type Sandbox, SandboxError, type SandboxInfo } from "@sandkit/core";
import type { Config } from "./config.js";
import { markOf, type Principal } from "./principal.js";
import type { ProviderSource } from "./provider.js";

const principalLabel = "mcp-principal";
const replicaLabel = "mcp-replica";

export interface SharedSandboxesOptions {
  readonly config: Config;
  readonly provider: ProviderSource;
  readonly principal: Principal;
  /** The name of this server among those that share its sandboxes. */
  readonly replica: string;
  /** Unused for this long a sandbox ends, in milliseconds; undefined: never. */
  readonly idleMs: number | undefined;
}

/** What was found at the backend. */
export interface Joined {
  readonly sandbox: Sandbox;
  /** The replica where its interpreters are; undefined for one that no server made. */
  readonly home: string | undefined;
}

/** The sandboxes of one principal that other processes see too: at the backend, which knows them by labels. */
export class SharedSandboxes {
  readonly #options: SharedSandboxesOptions;

  constructor(options: SharedSandboxesOptions) {
    this.#options = options;
  }

  /** True where sandboxes outlive the server that made them. */
  get isOn(): boolean {
    return this.#options.config.detached;
  }

  /** What a sandbox is made with, beside the rest, so that others find it. */
  createOptions(): Pick<CreateOptions, "lifetime" | "labels"> {
    const { idleMs, principal, replica } = this.#options;
    if (!this.isOn) return {};
    return {
      // Kept by the backend: no server knows what the others do.
      lifetime: { detached: true, ...(idleMs === undefined ? {} : { idleMs }) },
      labels: { [principalLabel]: markOf(principal), [replicaLabel]: replica },
    };
  }

  /** Those that servers made for this principal, the oldest first. */
  async living(): Promise<SandboxInfo[]> {
    const provider = await this.#options.provider.get();
    const found: SandboxInfo[] = [];
    for await (const info of provider.list({ labels: { [principalLabel]: markOf(this.#options.principal) } })) {
      if (info.state !== "gone") found.push(info);
    }
    return found.sort(byAge);
  }

  /** The sandbox with this id, wherever it was made; undefined when it is gone. */
  async join(id: string, signal: AbortSignal | undefined): Promise<Joined | undefined> {
    const provider = await this.#options.provider.get();
    if (!provider.capabilities.features.attach) return undefined;
    try {
      const sandbox = await attachSandbox(provider, { provider: provider.name, id }, { signal });
      const { labels } = await sandbox.info();
      return { sandbox, home: labels[replicaLabel] };
    } catch (error) {
      if (error instanceof SandboxError && (error.code === "NOT_FOUND" || error.code === "EXPIRED")) return undefined;
      throw error;
    }
  }

  /** The name of this server. */
  get replica(): string {
    return this.#options.replica;
  }
}

/** Of two that were made at the same time every replica must see the same one first. */
function byAge(one: SandboxInfo, other: SandboxInfo): number {
  const ms = one.createdAt.getTime() - other.createdAt.getTime();
  if (ms !== 0) return ms;
  return one.ref.id < other.ref.id ? -1 : 1;
}
