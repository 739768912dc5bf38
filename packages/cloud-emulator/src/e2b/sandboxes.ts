import { type CreateOptions, messageOf, SandboxError } from "@sandkit/core";
import type { Clock } from "../clock.js";
import { EmulatedBox } from "../emulated-box.js";
import { HttpFailure } from "../http/http-failure.js";
import { networkOption } from "../network-wish.js";
import type { Api } from "./api-types.js";
import { newId } from "./ids.js";
import { networkWish } from "./network-config.js";
import type { E2BOptions } from "./options.js";
import type { E2BQuirks } from "./quirks.js";
import { E2BSandbox, type SandboxPlan } from "./sandbox.js";

/** The templates that everybody has. */
const publicTemplates: readonly string[] = ["base", "code-interpreter-v1"];
const defaultMaxTimeoutSeconds = 24 * 60 * 60;

/** What can be started again: the home folder, and what the sandbox was made with. */
export interface Snapshot {
  readonly id: string;
  /** Its place among all that was ever made. */
  readonly sequence: number;
  readonly names: readonly string[];
  readonly sandboxID: string;
  readonly home: Uint8Array;
  readonly plan: SandboxPlan;
}

/** Everything that an emulated E2B has. */
export class Sandboxes {
  readonly snapshots = new Map<string, Snapshot>();
  readonly #options: E2BOptions;
  readonly #clock: Clock;
  readonly #quirks: E2BQuirks;
  readonly #living = new Map<string, E2BSandbox>();
  readonly #starting = new Set<Promise<E2BSandbox>>();
  #closed = false;
  #made = 0;

  constructor(options: E2BOptions, clock: Clock, quirks: E2BQuirks) {
    this.#options = options;
    this.#clock = clock;
    this.#quirks = quirks;
  }

  /** Newest first. */
  all(): E2BSandbox[] {
    return [...this.#living.values()].reverse();
  }

  get(id: string): E2BSandbox | undefined {
    // Older ids carry the node after a dash.
    return this.#living.get(id.split("-")[0] ?? "");
  }

  /** @throws HttpFailure 404 */
  find(id: string): E2BSandbox {
    const found = this.get(id);
    if (found) return found;
    throw new HttpFailure(404, `sandbox "${id}" doesn't exist or you don't have access to it`);
  }

  /** @throws HttpFailure as E2B refuses: 400, 404 for the template, 429 for the quota */
  async create(asked: Api["NewSandbox"] & { readonly timeout: number }): Promise<E2BSandbox> {
    const timeout = this.checkTimeout(asked.timeout);
    refuseUnknown(asked);
    const snapshot = this.#snapshot(asked.templateID);
    const template = snapshot?.plan.machine ?? { ...this.#options.machine, ...this.#template(asked.templateID) };
    return this.#start(timeout, async () => {
      const network = this.#network(asked);
      const machine = { ...template, ...network };
      return {
        box: await this.#box(machine, snapshot?.home),
        machine,
        templateID: snapshot?.id ?? asked.templateID,
        metadata: asked.metadata ?? {},
        envVars: { ...snapshot?.plan.envVars, ...asked.envVars },
        secure: asked.secure ?? false,
        network: asked.network,
        allowInternetAccess: asked.allow_internet_access,
        onTimeout: asked.autoPause ? "pause" : "kill",
        keepsMemory: asked.autoPauseMemory ?? true,
        autoResume: asked.autoResume?.enabled ?? false,
        clock: this.#clock,
        quirks: this.#quirks,
      };
    });
  }

  /** Another sandbox with the files of this one. */
  async fork(sandbox: E2BSandbox, home: Uint8Array, timeout: number): Promise<E2BSandbox> {
    const { plan } = sandbox;
    return this.#start(timeout, async () => ({ ...plan, box: await this.#box(plan.machine, home) }));
  }

  async snapshot(sandbox: E2BSandbox, name: string | undefined): Promise<Snapshot> {
    const home = await sandbox.box.save();
    const names = name === undefined ? [] : [name];
    const snapshot = { id: newId(), sequence: ++this.#made, names, sandboxID: sandbox.id, home, plan: sandbox.plan };
    this.snapshots.set(snapshot.id, snapshot);
    return snapshot;
  }

  /** Ends one and forgets it. */
  async kill(sandbox: E2BSandbox): Promise<void> {
    this.#living.delete(sandbox.id);
    await sandbox.kill();
  }

  /** Ends all, also those that are being started now, and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await Promise.all(this.all().map((sandbox) => this.kill(sandbox)));
  }

  /** @throws HttpFailure 400 */
  checkTimeout(seconds: number): number {
    const most = this.#options.maxTimeoutSeconds ?? defaultMaxTimeoutSeconds;
    if (!Number.isInteger(seconds) || seconds < 0) throw new HttpFailure(400, "Timeout must be a number of seconds");
    if (seconds > most) throw new HttpFailure(400, `Timeout cannot be greater than ${most / 3600} hours`);
    return seconds;
  }

  async #start(timeout: number, plan: () => Promise<SandboxPlan>): Promise<E2BSandbox> {
    if (this.#closed) throw new HttpFailure(503, "the emulator is closing");
    const { quota } = this.#options;
    const running = this.all().filter(({ state }) => state === "running").length + this.#starting.size;
    if (quota !== undefined && running >= quota) {
      throw new HttpFailure(429, `you have reached the maximum number of concurrent E2B sandboxes (${quota})`);
    }
    const starting = plan().then((planned) => {
      const sandbox = new E2BSandbox(++this.#made, planned, timeout, (expired) => this.#expire(expired));
      this.#living.set(sandbox.id, sandbox);
      return sandbox;
    });
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  async #expire(sandbox: E2BSandbox): Promise<void> {
    if (sandbox.state !== "running") return;
    if (sandbox.plan.onTimeout === "pause") await sandbox.pause(sandbox.plan.keepsMemory);
    else await this.kill(sandbox);
  }

  async #box(options: CreateOptions, home: Uint8Array | undefined): Promise<EmulatedBox> {
    try {
      return await EmulatedBox.create(this.#options.provider, options, home);
    } catch (error) {
      const busy = error instanceof SandboxError && (error.code === "QUOTA" || error.code === "UNAVAILABLE");
      throw new HttpFailure(busy ? 503 : 500, `Failed to place sandbox: ${messageOf(error)}`);
    }
  }

  #snapshot(id: string): Snapshot | undefined {
    return this.snapshots.get(id) ?? [...this.snapshots.values()].find(({ names }) => names.includes(id));
  }

  #template(id: string): CreateOptions {
    const known = this.#options.templates?.[id];
    if (known) return known;
    if (publicTemplates.includes(id)) return {};
    throw new HttpFailure(404, `template '${id}' not found`);
  }

  #network(asked: Pick<Api["NewSandbox"], "network" | "allow_internet_access">): Pick<CreateOptions, "network"> {
    const wish = networkWish(asked.allow_internet_access, asked.network);
    const option = networkOption(this.#options, wish);
    if ("missing" in option) throw new HttpFailure(400, `the network cannot be as wished: ${option.missing}`);
    return option;
  }
}

/** What would need a service of E2B's that is not here. */
function refuseUnknown(asked: Api["NewSandbox"]): void {
  for (const name of ["iam", "mcp", "volumeMounts"] as const) {
    if (asked[name] !== undefined)
      throw new HttpFailure(501, `"${name}" is not emulated: create the sandbox without it`);
  }
}
