import type { Daytona } from "@daytonaio/sdk";
import { type Capabilities, type CreateOptions, SandboxError } from "@sandkit/core";
import { type BoxFacts, type Cloud, defaultLeaseMs, type MachineOrder, type RemoteBox } from "@sandkit/core/kit";
import { daytonaBox } from "./box.js";
import { patiently } from "./call.js";
import { daytonaCapabilities } from "./capabilities.js";
import type { DaytonaConnector } from "./client.js";
import { createParams } from "./create-params.js";
import { providerName } from "./errors.js";
import { contextOf, findSandbox, reaches } from "./find.js";
import { listSandboxes } from "./list.js";
import { type DaytonaMachine, isVirtualMachine, machineOf } from "./machine.js";
import { vendorNames } from "./names.js";
import { brokenName, obtainSandbox } from "./obtain.js";
import type { DaytonaNative, DaytonaOptions } from "./options.js";
import { resumeSandbox } from "./pause.js";
import { planSandbox, type SandboxPlan } from "./plan-sandbox.js";
import { removeSandbox } from "./removal.js";
import { isBroken, isEnded } from "./states.js";

const defaultCreateMs = 5 * 60_000;
const defaultPausedMs = 7 * 24 * 60 * 60_000;
const startWithinMs = 120_000;

/** The sandboxes of one key at Daytona. */
export class DaytonaCloud implements Cloud<DaytonaNative, SandboxPlan, DaytonaMachine> {
  readonly provider = providerName;
  readonly vendor = "Daytona";
  /** Of Daytona's own snapshots. */
  readonly usualWorkdir = "/home/daytona";
  readonly namesAreUnique = true;
  readonly leaseMs: number;
  readonly #connector: DaytonaConnector;
  readonly #client: Daytona;
  readonly #options: DaytonaOptions;

  constructor(connector: DaytonaConnector, options: DaytonaOptions) {
    this.#connector = connector;
    this.#client = connector.connect();
    this.#options = options;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
  }

  plan(create: CreateOptions<DaytonaNative>): SandboxPlan {
    return planSandbox(create, this.#options);
  }

  async make(order: MachineOrder<SandboxPlan, DaytonaNative>): Promise<DaytonaMachine | undefined> {
    const { create, plan, record, signal } = order;
    const { createTimeoutMs: withinMs = defaultCreateMs } = create;
    // From the request on, and building an image may take as long as it may; then the lease counts.
    const lifeMs = withinMs + Math.min(this.leaseMs, record.ttlMs ?? Number.POSITIVE_INFINITY);
    const params = createParams(this.#connector.sdk, create, plan, record, lifeMs);
    const sandbox = await obtainSandbox(this.#client, { params, creation: record.creation, withinMs, signal });
    return sandbox && machineOf(sandbox);
  }

  async find(id: string, operation: string, signal?: AbortSignal): Promise<DaytonaMachine | undefined> {
    const sandbox = await findSandbox(this.#client, id, operation, signal);
    // It may be another's name.
    return sandbox?.id === id ? machineOf(sandbox) : undefined;
  }

  async named(name: string, owner: string, signal?: AbortSignal): Promise<DaytonaMachine[]> {
    const names = Object.values(vendorNames(name, owner));
    const found = await Promise.all(names.map((one) => findSandbox(this.#client, one, "create", signal)));
    const living = found.flatMap((sandbox) => (sandbox && !isEnded(sandbox.state) ? [sandbox] : []));
    const broken = living.find(({ state }) => isBroken(state));
    if (broken) throw brokenName(name, broken);
    return living.map(machineOf);
  }

  async *list(labels: Readonly<Record<string, string>>, operation: string): AsyncGenerator<DaytonaMachine> {
    for await (const sandbox of listSandboxes(this.#client, operation, labels)) yield machineOf(sandbox);
  }

  async reach(found: DaytonaMachine, operation: string, signal?: AbortSignal): Promise<DaytonaMachine | undefined> {
    const { sandbox, state } = found;
    try {
      if (state === "paused") await resumeSandbox(sandbox, this.leaseMs, signal);
      if (state === "coming") await reaches(sandbox, ["started"], { operation, withinMs: startWithinMs, signal });
      return found;
    } catch (error) {
      if (error instanceof SandboxError && (error.code === "SANDBOX_LOST" || error.code === "NOT_FOUND")) return;
      throw error;
    }
  }

  box(machine: DaytonaMachine, facts: BoxFacts<DaytonaMachine>): RemoteBox {
    const { pausedMs = defaultPausedMs } = this.#options;
    return daytonaBox({ client: this.#client, machine, facts, leaseMs: this.leaseMs, pausedMs });
  }

  async narrowNetwork({ sandbox }: DaytonaMachine, { egress }: SandboxPlan, signal?: AbortSignal): Promise<void> {
    // What is not said stays as it was.
    const network = { networkAllowList: "", domainAllowList: "", ...egress };
    await patiently(contextOf(sandbox, "create"), () => sandbox.updateNetworkSettings(network), signal);
  }

  remove({ sandbox }: DaytonaMachine): Promise<void> {
    return removeSandbox(sandbox);
  }

  capabilitiesOf({ sandbox, hasImage }: DaytonaMachine): Capabilities {
    return daytonaCapabilities({ isVirtualMachine: isVirtualMachine(sandbox), hasImage });
  }

  nativeOf({ sandbox }: DaytonaMachine): unknown {
    return { sandbox, daytona: this.#client };
  }
}
