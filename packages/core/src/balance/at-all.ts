import { SandboxError, toSandboxError } from "../errors.js";
import type { Backend } from "./backend.js";

/** What one backend could not do. */
export interface BackendFailure {
  readonly key: string;
  readonly error: SandboxError;
}

/** Does the same at all backends, at one time; what some cannot do keeps nobody from the others. */
export async function atAll<Result>(
  all: readonly Backend[],
  call: (backend: Backend) => Promise<Result>,
): Promise<{ readonly results: readonly Result[]; readonly failures: readonly BackendFailure[] }> {
  const outcomes = await Promise.allSettled(all.map(call));
  const results: Result[] = [];
  const failures: BackendFailure[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") results.push(outcome.value);
    else failures.push({ key: all[index]?.key ?? "", error: toSandboxError(outcome.reason, "UNAVAILABLE") });
  }
  return { results, failures };
}

/** An outage of some: it is told, with what was done at the others. */
export function partialOutage(
  name: string,
  operation: string,
  failures: readonly BackendFailure[],
  done: string,
): SandboxError {
  const reasons = failures.map(({ key, error }) => `${key}: ${error.message}`).join("; ");
  const [first] = failures;
  return new SandboxError(first?.error.code ?? "UNAVAILABLE", `${operation} at ${reasons} (${done})`, {
    provider: name,
    operation,
    cause: failures.length === 1 ? first?.error : new AggregateError(failures.map(({ error }) => error)),
  });
}
