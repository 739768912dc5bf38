import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import { parseOptions } from "../parse-options.js";
import type { CheckResult, ListOptions, Provider, ReapOptions, SandboxInfo, SandboxRef } from "../provider.js";
import { requireProvider } from "../require-provider.js";
import { atAll, partialOutage } from "./at-all.js";
import { Backend } from "./backend.js";
import { type BalanceOptions, balanceOptions, keyPattern } from "./balance-options.js";
import { BalancedCreates } from "./balanced-creates.js";
import { innerId } from "./balanced-ref.js";
import { ableBackends } from "./choose-backends.js";
import { unionCapabilities } from "./union-capabilities.js";

/** `native` of a create, by the key of the backend that it is for. */
export type BalancedNative<Backends extends Readonly<Record<string, Provider>>> = {
  readonly [Key in keyof Backends]?: Backends[Key] extends Provider<infer Native> ? Native : never;
};

/**
 * Several providers as one: `balance({ gpu: docker(a), spare: e2b() })`. A sandbox is made at one that can do what is
 * asked, in order or where there are fewest, and at the next when that one cannot now; its ref says where it is. What
 * may have run is never run again elsewhere. A backend that keeps failing is passed over until it answers again.
 * @param backends Their keys stand in refs: the same key must mean the same backend wherever those are used.
 * @throws SandboxError `INVALID`
 */
export function balance<Backends extends Readonly<Record<string, Provider>>>(
  backends: Backends,
  options: BalanceOptions = {},
): Provider<BalancedNative<Backends>> {
  const about = { provider: "balance", operation: "balance", what: "options of balance()" };
  const parsed = parseOptions(balanceOptions(), options, about);
  const name = parsed.name ?? "balance";
  for (const [key, provider] of Object.entries(backends)) requireProvider(provider, `backend "${key}" of balance()`);
  const all = Object.entries(backends).map(([key, provider]) => new Backend(name, checkedKey(key), provider, parsed));
  if (all.length === 0) throw invalid("balance() needs at least one backend");
  const creates = new BalancedCreates(name, all, parsed);
  const keys = all.map(({ key }) => key);
  return {
    name,
    capabilities: unionCapabilities(all.map(({ provider }) => provider.capabilities)),
    validate(create) {
      checkNative(create, keys);
      ableBackends(all, create);
    },
    create: (create) => creates.create(create),
    async attach(ref, attach) {
      const found = innerId(ref.id);
      if (!found) return null;
      const backend = all.find(({ key }) => key === found.key);
      if (backend) return backend.attach(found.id, attach);
      throw invalid(`sandbox ${ref.id} is of backend "${found.key}": there are ${keys.join(", ")}`, "attach");
    },
    list: (list) => listAll(name, all, list),
    reap: (reap) => reapAll(name, all, reap),
    ...snapshotsOf(name, all),
    check: () => checkAll(all),
    async close() {
      for (const { health } of all) health.stop();
      const { failures } = await atAll(all, async ({ provider }) => provider.close?.());
      if (failures.length > 0) throw partialOutage(name, "close", failures, "the others are closed");
    },
  };
}

/** Present where one of them has it. */
function snapshotsOf(name: string, all: readonly Backend[]): Pick<Provider, "snapshots" | "removeSnapshot"> {
  const having = all.filter(({ provider }) => provider.snapshots && provider.removeSnapshot);
  if (having.length === 0) return {};
  return {
    async *snapshots() {
      const { results, failures } = await atAll(having, (backend) => backend.snapshots());
      for (const snapshots of results) yield* snapshots;
      if (failures.length > 0) throw partialOutage(name, "snapshots", failures, "those of the others were listed");
    },
    async removeSnapshot(id) {
      const found = innerId(id);
      const backend = having.find(({ key }) => key === found?.key);
      return backend && found ? backend.removeSnapshot(found.id) : false;
    },
  };
}

function checkedKey(key: string): string {
  if (keyPattern.test(key)) return key;
  throw invalid(`key ${JSON.stringify(key)} of a backend: must be 1 to 64 of A-Z a-z 0-9 _ -`);
}

function checkNative({ native }: CreateOptions, keys: readonly string[]): void {
  const unknown = Object.keys(Object(native ?? {})).filter((key) => !keys.includes(key));
  if (unknown.length === 0 && (native === undefined || typeof native === "object")) return;
  throw invalid(`option "native": must have the keys of backends (${keys.join(", ")})`, "create");
}

async function* listAll(
  name: string,
  all: readonly Backend[],
  { labels }: ListOptions = {},
): AsyncGenerator<SandboxInfo> {
  const { results, failures } = await atAll(all, (backend) => backend.list(labels));
  for (const infos of results) yield* infos;
  if (failures.length > 0) throw partialOutage(name, "list", failures, "the sandboxes of the others were listed");
}

async function reapAll(name: string, all: readonly Backend[], options: ReapOptions): Promise<SandboxRef[]> {
  const { results, failures } = await atAll(all, async (backend) => {
    const reaped = await backend.health.watch(() => backend.provider.reap(options));
    return reaped.map((ref) => backend.outer(ref));
  });
  const reaped = results.flat();
  if (failures.length === 0) return reaped;
  const done = reaped.map(({ id }) => id).join(", ") || "nothing";
  throw partialOutage(name, "reap", failures, `elsewhere this was ${options.dryRun ? "found" : "removed"}: ${done}`);
}

/** Usable as long as one of them is. */
async function checkAll(all: readonly Backend[]): Promise<CheckResult> {
  const checks = await Promise.all(all.map(async ({ key, provider }) => ({ key, ...(await provider.check()) })));
  const detail = checks.map(({ key, ok, detail }) => `${key}: ${ok ? "" : "not usable: "}${detail}`).join("; ");
  const fix = checks.flatMap(({ key, fix = [] }) => fix.map((step) => `${key}: ${step}`));
  const facts = Object.fromEntries(
    checks.flatMap(({ key, facts = {} }) => Object.entries(facts).map(([name, fact]) => [`${key}: ${name}`, fact])),
  );
  return {
    ok: checks.some(({ ok }) => ok),
    detail,
    ...(Object.keys(facts).length > 0 && { facts }),
    ...(fix.length > 0 && { fix }),
  };
}

function invalid(message: string, operation = "balance"): SandboxError {
  return new SandboxError("INVALID", message, { provider: "balance", operation });
}
