import { type Capabilities, type CreateOptions, SandboxError } from "@sandkit/core";
import {
  type BoxFacts,
  type Cloud,
  defaultLeaseMs,
  labelValues,
  type MachineOrder,
  nameValues,
} from "@sandkit/core/kit";
import { E2BBox } from "./box.js";
import { e2bCapabilities } from "./capabilities.js";
import type { E2BClient } from "./client.js";
import { createMachine } from "./create-machine.js";
import { isMissing, providerName } from "./errors.js";
import { type E2BMachine, machineOf } from "./machine.js";
import { managed } from "./marks.js";
import { networkOf } from "./network.js";
import type { E2BNative, E2BOptions } from "./options.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";

/** From the creation until the session is open, at least: then the lease counts. In milliseconds. */
const startMs = 60_000;
/** E2B wants a time for every connection; it makes no life shorter, and a longer one is the lease's to give. */
const reachMs = 10_000;
/** Of E2B's own templates. */
const usualUser = "user";

/** The sandboxes of one account at E2B. */
export class E2BCloud implements Cloud<E2BNative, SandboxPlan, E2BMachine> {
  readonly provider = providerName;
  readonly vendor = "E2B";
  readonly usualWorkdir = "/home/user";
  /** A name is a piece of metadata there. */
  readonly namesAreUnique = false;
  readonly leaseMs: number;
  readonly #client: E2BClient;
  readonly #options: E2BOptions;

  constructor(client: E2BClient, options: E2BOptions) {
    this.#client = client;
    this.#options = options;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
  }

  plan(create: CreateOptions<E2BNative>): SandboxPlan {
    return planSandbox(create, this.#options);
  }

  async make({ plan, record, signal }: MachineOrder<SandboxPlan, E2BNative>): Promise<E2BMachine> {
    const { volumeMounts } = plan.native;
    const { allowInternetAccess } = plan.egressAtFirst;
    const options = {
      timeoutMs: Math.max(this.leaseMs, startMs),
      network: networkOf(plan.egressAtFirst, this.#options.publicPorts ?? false),
      lifecycle: { onTimeout: "kill", autoResume: false } as const,
      ...(allowInternetAccess !== undefined && { allowInternetAccess }),
      ...(volumeMounts && { volumeMounts: { ...volumeMounts } }),
    };
    const sandbox = await createMachine(this.#client, plan.start.template, options, record, signal);
    return { id: sandbox.sandboxId, state: "running", record, createdAt: record.createdAt, sandbox };
  }

  async find(id: string, operation: string, signal?: AbortSignal): Promise<E2BMachine | undefined> {
    const found = await this.#client.info(id, operation, { signal });
    return found && machineOf(found);
  }

  /** A copy has the name of its original in its metadata too, and is younger. */
  async named(name: string, owner: string): Promise<E2BMachine[]> {
    const found: E2BMachine[] = [];
    for await (const info of this.#client.list(nameValues(name), "create")) {
      const machine = machineOf(info);
      if (machine.record?.detached || machine.record?.owner === owner) found.push(machine);
    }
    return found;
  }

  async *list(labels: Readonly<Record<string, string>>, operation: string): AsyncGenerator<E2BMachine> {
    for await (const info of this.#client.list({ ...managed, ...labelValues(labels) }, operation)) {
      yield machineOf(info);
    }
  }

  async reach(found: E2BMachine, operation: string, signal?: AbortSignal): Promise<E2BMachine | undefined> {
    try {
      const ttlMs = found.state === "paused" ? this.leaseMs : reachMs;
      return { ...found, sandbox: await this.#client.connect(found.id, ttlMs, operation, signal) };
    } catch (error) {
      if (error instanceof SandboxError && isMissing(error)) return undefined;
      throw error;
    }
  }

  box({ id, sandbox }: E2BMachine, facts: BoxFacts<E2BMachine>): E2BBox {
    if (!sandbox) throw new Error(`sandbox ${id} was not connected to`);
    return new E2BBox({
      client: this.#client,
      sandbox,
      facts,
      leaseMs: this.leaseMs,
      user: this.#options.user ?? usualUser,
      sandboxUrl: this.#options.sandboxUrl ?? process.env.E2B_SANDBOX_URL,
    });
  }

  narrowNetwork({ id }: E2BMachine, { egress }: SandboxPlan): Promise<void> {
    return this.#client.setNetwork(id, egress);
  }

  remove({ id }: E2BMachine, operation: string): Promise<void> {
    return this.#client.kill(id, operation);
  }

  capabilitiesOf(): Capabilities {
    return e2bCapabilities;
  }
}
