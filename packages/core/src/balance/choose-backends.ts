import { crypto } from "../builtins.js";
import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import type { Backend } from "./backend.js";
import type { BalanceOptions } from "./balance-options.js";

/**
 * The backends that can do what is asked, those first that are to be asked first. Those that have failed are left out,
 * unless all have: then all are tried again.
 * @throws SandboxError `UNSUPPORTED` or `INVALID` with what each of them has against it
 */
export function chooseBackends(
  all: readonly Backend[],
  create: CreateOptions,
  options: Pick<BalanceOptions, "policy" | "affinity">,
): readonly Backend[] {
  const able = ableBackends(all, create);
  const well = able.filter(({ health }) => health.state === "IDLE");
  if (well.length === 0) for (const { health } of able) health.recover();
  return inOrder(well.length > 0 ? well : able, create, options);
}

/** @throws SandboxError `UNSUPPORTED` or `INVALID` */
export function ableBackends(all: readonly Backend[], create: CreateOptions): readonly Backend[] {
  const refusals = all.map((backend) => ({ backend, error: backend.refusal(create) }));
  const able = refusals.flatMap(({ backend, error }) => (error ? [] : [backend]));
  if (able.length > 0) return able;
  const errors = refusals.flatMap(({ error }) => error ?? []);
  const reasons = refusals.map(({ backend, error }) => `${backend.key}: ${error?.message}`).join("; ");
  const code = errors.every((error) => error.code === "INVALID") ? "INVALID" : "UNSUPPORTED";
  throw new SandboxError(code, `no backend takes these options: ${reasons}`, {
    operation: "create",
    cause: errors.length === 1 ? errors[0] : new AggregateError(errors),
  });
}

function inOrder(
  backends: readonly Backend[],
  { name, labels = {}, lifetime }: CreateOptions,
  { policy, affinity }: Pick<BalanceOptions, "policy" | "affinity">,
): readonly Backend[] {
  const together = affinity === undefined ? undefined : labels[affinity];
  if (together !== undefined) return byHash(backends, together);
  if (policy !== "least-sessions") return backends;
  // Two programs that make one name at the same time must begin at the same backend: it gives both the same.
  if (name !== undefined && lifetime?.detached) return byHash(backends, name);
  return backends.toSorted((a, b) => a.sessions - b.sessions);
}

/** Everybody finds the same order for one word, and most words keep their first when a backend comes or goes. */
function byHash(backends: readonly Backend[], word: string): readonly Backend[] {
  const weight = ({ key }: Backend) => crypto().createHash("sha256").update(`${key}\0${word}`).digest("hex");
  return backends.toSorted((a, b) => (weight(a) < weight(b) ? -1 : 1));
}
