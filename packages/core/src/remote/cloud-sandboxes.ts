import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import { ownerLabel } from "../owner.js";
import type { AttachOptions, ListOptions, ProviderSession, ReapOptions, SandboxInfo, SandboxRef } from "../provider.js";
import type { Cloud, CloudPlan } from "./cloud.js";
import { JoinMachine } from "./join-machine.js";
import { infoOf, isAlive, type Machine } from "./machine.js";
import { makeSandbox } from "./make-sandbox.js";
import { reapMachines } from "./reap-machines.js";
import { optionsDigest } from "./record.js";
import { byAge } from "./settle-name.js";
import { wait } from "./try-again.js";
import { TurnsByKey } from "./turns-by-key.js";

const lookAgainMs = 250;

/** The sandboxes of one account at a cloud: how they are made, found, joined, listed and reaped, the same for all. */
export class CloudSandboxes<Native, Plan extends CloudPlan, Found extends Machine> {
  readonly #connect: (operation: string) => Cloud<Native, Plan, Found>;
  /** Creates of one name. */
  readonly #turns = new TurnsByKey();

  /** @param connect Gives the cloud; throws `AUTH` without a key. */
  constructor(connect: (operation: string) => Cloud<Native, Plan, Found>) {
    this.#connect = connect;
  }

  async create(create: CreateOptions<Native>): Promise<ProviderSession> {
    const cloud = this.#connect("create");
    const plan = cloud.plan(create);
    const { name } = create;
    if (name !== undefined) {
      return this.#turns.run(name, () => this.#createNamed(cloud, create, plan, name), create.signal);
    }
    const made = await makeSandbox(cloud, create, plan);
    if (made) return made;
    throw new Error(`${cloud.vendor} gave no machine for a sandbox without a name`);
  }

  /**
   * `null` only when the vendor says that there is none of that id, or its agent has ended and nobody starts another. A
   * paused one stays paused.
   */
  async attach(ref: SandboxRef, { signal }: AttachOptions = {}): Promise<ProviderSession | null> {
    const cloud = this.#connect("attach");
    const joining = new JoinMachine(cloud, "attach", signal);
    for (;;) {
      const found = await cloud.find(ref.id, "attach", signal);
      if (!found || !isAlive(found)) return null;
      await requireShared(cloud, found);
      const session = found.state === "paused" ? joining.asleep(found) : await joining.join(found);
      if (session === "over") return null;
      if (session === "settingUp") throw beingSetUp(cloud.provider, ref.id);
      if (session !== "later") return session;
      await wait(lookAgainMs, signal);
    }
  }

  async *list({ labels = {} }: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    const cloud = this.#connect("list");
    for await (const found of cloud.list(labels, "list")) {
      if (!found.record || !isAlive(found)) continue;
      const ref = { provider: cloud.provider, id: found.id };
      // Known to who attaches: asking each box here would make a list as slow as its slowest.
      yield { ...infoOf(found.record, found, "attached"), ref, shells: [], interpreters: [] };
    }
  }

  reap(options: ReapOptions): Promise<SandboxRef[]> {
    return reapMachines(this.#connect("reap"), options);
  }

  /** The living one of the name, once its maker is done with it; else a new one. */
  async #createNamed(
    cloud: Cloud<Native, Plan, Found>,
    create: CreateOptions<Native>,
    plan: Plan,
    name: string,
  ): Promise<ProviderSession> {
    const { signal } = create;
    const owner = await ownerLabel();
    const joining = new JoinMachine(cloud, "create", signal);
    for (;;) {
      signal?.throwIfAborted();
      const [found] = [...(await cloud.named(name, owner, signal))].sort(byAge);
      if (!found) {
        const made = await makeSandbox(cloud, create, plan);
        if (made) return made;
      } else {
        requireSameOptions(cloud, found, name, optionsDigest(create));
        const session = await joining.join(found);
        if (session === "over") await cloud.remove(found, "create");
        else if (session !== "later" && session !== "settingUp") return session;
      }
      // It is about to go, or about to come: somebody else makes it just now.
      await wait(lookAgainMs, signal);
    }
  }
}

/** What is not detached is its program's alone, at every provider. */
async function requireShared(
  { provider, vendor }: { provider: string; vendor: string },
  found: Machine,
): Promise<void> {
  const { id, record } = found;
  const details = { provider, operation: "attach", sandboxId: id };
  if (!record) {
    const message = `sandbox ${id} was not made by Sandkit: use ${vendor}'s own SDK for it`;
    throw new SandboxError("UNSUPPORTED", message, details);
  }
  if (record.detached || record.owner === (await ownerLabel())) return;
  const next = 'create it with "lifetime.detached" to share it';
  const message = `sandbox ${id} belongs to the program that made it (${record.owner}): ${next}`;
  throw new SandboxError("UNSUPPORTED", message, details);
}

function beingSetUp(provider: string, sandboxId: string): SandboxError {
  const message = `sandbox ${sandboxId} is still being set up by who made it: try again in a moment`;
  return new SandboxError("UNAVAILABLE", message, { provider, operation: "attach", sandboxId });
}

/** @throws SandboxError `CONFLICT` when the one of that name was made with other options, or by somebody else's means */
function requireSameOptions({ provider }: { provider: string }, { record, id }: Machine, name: string, digest: string) {
  if (record?.options === digest) return;
  const what = record
    ? `sandbox "${name}" lives with other options`
    : `name "${name}" belongs to a sandbox that Sandkit has not made`;
  const next = "destroy it, or create with the same options or another name";
  throw new SandboxError("CONFLICT", `${what}: ${next}`, { provider, operation: "create", sandboxId: id });
}
