import type { Capabilities } from "../capabilities.js";
import type { CreateOptions } from "../options.js";
import type { ProviderSession, SandboxInfo, SandboxRef } from "../provider.js";
import type { BoxInfo, Machine } from "./machine.js";
import type { SandboxRecord } from "./record.js";
import type { RemoteBox } from "./remote-box.js";

/** What a create asks for, as far as it is the same at all clouds. */
export interface CloudPlan {
  /** What a machine starts from, for people. */
  readonly startsFrom: string;
  /** The template's name that was asked for; absent when an image or a snapshot was. */
  readonly template?: string | undefined;
  /** As `checkRequirements` has passed them. */
  readonly packages: readonly string[];
  /** Whether what a machine may reach for its life is less than while its packages are installed. */
  readonly narrowsNetwork: boolean;
}

/** How a machine is asked for. */
export interface MachineOrder<Plan, Native = unknown> {
  readonly create: CreateOptions<Native>;
  readonly plan: Plan;
  readonly record: SandboxRecord;
  readonly signal?: AbortSignal | undefined;
}

/** What core knows of a box that a cloud is to make of a machine. */
export interface BoxFacts<Found> {
  readonly ref: SandboxRef;
  readonly record: SandboxRecord;
  readonly workdir: string | undefined;
  /** Of its creator alone. */
  readonly env: Readonly<Record<string, string>> | undefined;
  /** Asked of the vendor. */
  info(): Promise<BoxInfo>;
  /** Sessions of copies of it: of all, or none of them is left. */
  openCopies(copies: readonly Found[]): Promise<ProviderSession[]>;
}

/**
 * The machines of one account at a vendor's: found, joined, removed. Each call has its own deadline and tries again
 * what may pass.
 */
export interface Fleet<Found extends Machine> {
  /** Name of the provider. */
  readonly provider: string;
  /** The vendor's name, for people. */
  readonly vendor: string;
  readonly leaseMs: number;
  /** Where programs begin when nothing says where; asked of the machine itself, except while it sleeps. */
  readonly usualWorkdir: string;
  /** How long the agent of a machine that another program makes may take to be there, in milliseconds; default 30 s. */
  readonly graceMs?: number | undefined;
  /** Whether the vendor itself sees to it that a name is there once: `make` gives undefined then for one that is taken. */
  readonly namesAreUnique: boolean;

  /** The machine of an id as it is now; undefined when there is none. */
  find(id: string, operation: string, signal?: AbortSignal): Promise<Found | undefined>;

  /** The living machines of a name: those that are shared (detached), and those of this owner. */
  named(name: string, owner: string, signal?: AbortSignal): Promise<readonly Found[]>;

  /** All machines of Sandkit with these labels of the user. An outage throws. */
  list(labels: Readonly<Record<string, string>>, operation: string): AsyncIterable<Found>;

  /**
   * The machine, running and ready to be connected to; resumed when it was paused. Does not make the life of one that
   * runs any longer.
   * @returns undefined when it is gone
   */
  reach(found: Found, operation: string, signal?: AbortSignal): Promise<Found | undefined>;

  /** What a session is opened over, of a machine that was just made or reached. */
  box(found: Found, facts: BoxFacts<Found>): RemoteBox;

  /** Removes a machine; one that is not there is fine. @throws SandboxError when it may still exist */
  remove(found: Found, operation: string): Promise<void>;

  /** What a machine may be able to do, whether it runs or not. */
  capabilitiesOf(found: Found): Capabilities;

  /** The vendor's own object, where there is one for a machine that sleeps. */
  nativeOf?(found: Found): unknown;
}

/**
 * A vendor's facts. How a sandbox lives there (making and undoing, names, set-up that others wait for, leases, pauses)
 * is the same at all clouds, and core's: see `CloudSandboxes`.
 */
export interface Cloud<Native, Plan extends CloudPlan, Found extends Machine> extends Fleet<Found> {
  /** Turns options into a plan, without asking anybody. @throws SandboxError `INVALID` or `UNSUPPORTED`, by name */
  plan(create: CreateOptions<Native>): Plan;

  /**
   * Makes a machine that carries the record. On failure and on abort nothing of it is left.
   * @returns undefined when its name is taken
   */
  make(order: MachineOrder<Plan, Native>): Promise<Found | undefined>;

  /** Gives a new machine the network of its life. */
  narrowNetwork(found: Found, plan: Plan, signal?: AbortSignal): Promise<void>;
}

/** Who made a session: see `SandboxInfo`. */
export type Origin = SandboxInfo["origin"];
