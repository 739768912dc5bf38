import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { capabilities } from "../../src/capabilities.js";
import { defineProvider } from "../../src/define-provider.js";
import type { Provider } from "../../src/provider.js";
import type { BoxFacts, Cloud, CloudPlan, MachineOrder } from "../../src/remote/cloud.js";
import { CloudSandboxes } from "../../src/remote/cloud-sandboxes.js";
import type { Machine } from "../../src/remote/machine.js";
import { decodeRecord, encodeRecord, recordOfCopy, type SandboxRecord } from "../../src/remote/record.js";
import type { RemoteBox } from "../../src/remote/remote-box.js";
import { LocalBox, remoteCapabilities } from "./remote-box.js";

interface LocalMachine extends Machine {
  readonly box: LocalBox;
}

interface Kept {
  readonly box: LocalBox;
  values: Record<string, string>;
  readonly createdAt: Date;
}

const cloudCapabilities = capabilities({
  ...remoteCapabilities,
  features: { ...remoteCapabilities.features, pause: "native", fork: "native" },
});
const path = { PATH: process.env.PATH ?? "" };

/** A vendor on this machine: folders that are reached over terminals alone, found by whoever asks. */
export class LocalVendor {
  readonly machines = new Map<string, Kept>();
  /** What was asked of it, in order: `extend ID`, `remove ID`. */
  readonly asked: string[] = [];
  /** What the test has happen in a call. */
  onNarrow: (signal?: AbortSignal) => Promise<void> = async () => undefined;
  onRemove: () => Promise<void> = async () => undefined;
  /** False: a machine that is there is not reached. */
  onReach: () => Promise<boolean> = async () => true;

  /** A provider of it, as one program has it. */
  provider(options: { readonly leaseMs?: number; readonly narrowsNetwork?: boolean } = {}): Provider {
    const sandboxes = new CloudSandboxes(() => new LocalCloud(this, options));
    return defineProvider({
      name: "remote-test",
      capabilities: cloudCapabilities,
      validate: () => undefined,
      create: (create) => sandboxes.create(create),
      attach: (ref, attach) => sandboxes.attach(ref, attach),
      list: (list) => sandboxes.list(list),
      reap: (reap) => sandboxes.reap(reap),
    });
  }

  /** Has it look as if another program had made a machine. */
  giveAway(id: string, owner: string): void {
    const kept = this.machines.get(id);
    if (kept) kept.values = { ...kept.values, "sandkit.owner": owner };
  }

  async start(record: SandboxRecord): Promise<LocalMachine> {
    const id = randomUUID();
    const box = new LocalBox({ env: path }, {}, id);
    for (const folder of box.directories) await mkdir(folder, { recursive: true });
    this.machines.set(id, { box, values: encodeRecord(record), createdAt: new Date() });
    return machineOf(id, this.#kept(id));
  }

  find(id: string): LocalMachine | undefined {
    const kept = this.machines.get(id);
    return kept && machineOf(id, kept);
  }

  all(): LocalMachine[] {
    return [...this.machines].map(([id, kept]) => machineOf(id, kept));
  }

  async remove(id: string): Promise<void> {
    this.asked.push(`remove ${id}`);
    await this.onRemove();
    const kept = this.machines.get(id);
    this.machines.delete(id);
    await kept?.box.destroy();
  }

  async end(): Promise<void> {
    await Promise.all([...this.machines.values()].map(({ box }) => box.destroy()));
  }

  #kept(id: string): Kept {
    const kept = this.machines.get(id);
    if (!kept) throw new Error(`there is no machine ${id}`);
    return kept;
  }
}

function machineOf(id: string, { box, values, createdAt }: Kept): LocalMachine {
  return { id, box, state: box.state, record: decodeRecord(values), createdAt };
}

class LocalCloud implements Cloud<unknown, CloudPlan, LocalMachine> {
  readonly provider = "remote-test";
  readonly vendor = "this machine";
  readonly usualWorkdir = "/nobody/knows";
  readonly namesAreUnique = false;
  readonly graceMs = 700;
  readonly leaseMs: number;
  readonly #vendor: LocalVendor;
  readonly #narrowsNetwork: boolean;

  constructor(vendor: LocalVendor, { leaseMs = 60_000, narrowsNetwork = false }) {
    this.#vendor = vendor;
    this.leaseMs = leaseMs;
    this.#narrowsNetwork = narrowsNetwork;
  }

  plan(): CloudPlan {
    return { startsFrom: "a folder", packages: [], narrowsNetwork: this.#narrowsNetwork };
  }

  make({ record }: MachineOrder<CloudPlan>): Promise<LocalMachine> {
    return this.#vendor.start(record);
  }

  async find(id: string): Promise<LocalMachine | undefined> {
    return this.#vendor.find(id);
  }

  async named(name: string, owner: string): Promise<LocalMachine[]> {
    const found = this.#vendor.all().filter(({ record }) => record?.name === name);
    return found.filter(({ record }) => record?.detached || record?.owner === owner);
  }

  async *list(): AsyncGenerator<LocalMachine> {
    yield* this.#vendor.all();
  }

  async reach(found: LocalMachine): Promise<LocalMachine | undefined> {
    if (!(await this.#vendor.onReach())) return undefined;
    found.box.state = "running";
    return this.#vendor.find(found.id);
  }

  box({ id, box }: LocalMachine, facts: BoxFacts<LocalMachine>): RemoteBox {
    return {
      ref: facts.ref,
      info: facts.info,
      workdir: facts.workdir ?? box.workdir,
      env: { ...box.env, ...facts.env },
      directories: box.directories,
      capabilities: cloudCapabilities,
      terminal: () => box.terminal(),
      destroy: () => this.#vendor.remove(id),
      extend: async () => {
        this.#vendor.asked.push(`extend ${id}`);
      },
      fork: async (count) =>
        facts.openCopies(
          await Promise.all(Array.from({ length: count }, () => this.#vendor.start(recordOfCopy(facts.record)))),
        ),
      pause: {
        keeps: "files",
        pause: async () => {
          box.state = "paused";
          for (const terminal of box.terminals) await terminal.end();
        },
        resume: async () => {
          box.state = "running";
        },
      },
    };
  }

  narrowNetwork(_found: LocalMachine, _plan: CloudPlan, signal?: AbortSignal): Promise<void> {
    return this.#vendor.onNarrow(signal);
  }

  remove({ id }: LocalMachine): Promise<void> {
    return this.#vendor.remove(id);
  }

  capabilitiesOf() {
    return cloudCapabilities;
  }
}
