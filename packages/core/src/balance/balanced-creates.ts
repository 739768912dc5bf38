import { type ErrorCode, messageOf, SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import type { PackageFailure } from "../packages/package-failure.js";
import type { ProviderSession } from "../provider.js";
import { TurnsByKey } from "../remote/turns-by-key.js";
import type { Backend } from "./backend.js";
import { isOfBackend } from "./backend-health.js";
import type { BalanceOptions } from "./balance-options.js";
import { chooseBackends } from "./choose-backends.js";

/** Answers after which another backend may still have what this one has not. */
const elsewhere: ReadonlySet<ErrorCode> = new Set(["QUOTA", "RATE_LIMITED", "NOT_FOUND", "UNSUPPORTED"]);

/** Makes sandboxes at the one backend that is to have each, and at the next when that cannot. */
export class BalancedCreates {
  readonly #name: string;
  readonly #backends: readonly Backend[];
  readonly #options: BalanceOptions;
  readonly #turns = new TurnsByKey();

  constructor(name: string, backends: readonly Backend[], options: BalanceOptions) {
    this.#name = name;
    this.#backends = backends;
    this.#options = options;
  }

  create(options: CreateOptions): Promise<ProviderSession> {
    const { name } = options;
    if (name === undefined) return this.#createAnywhere(options);
    return this.#turns.run(name, () => this.#createNamed(name, options), options.signal);
  }

  async #createNamed(name: string, options: CreateOptions): Promise<ProviderSession> {
    options.signal?.throwIfAborted();
    const home = await this.#homeOf(name, options);
    if (!home) return this.#createAnywhere(options);
    const refusal = home.refusal(options);
    if (!refusal) return home.create(options);
    throw this.#error(
      "CONFLICT",
      `sandbox "${name}" lives at "${home.key}", which does not take these options (${refusal.message}): destroy it, or take another name`,
      refusal,
    );
  }

  async #createAnywhere(options: CreateOptions): Promise<ProviderSession> {
    const failures: { readonly backend: Backend; readonly error: SandboxError }[] = [];
    for (const backend of chooseBackends(this.#backends, options, this.#options)) {
      try {
        return await backend.create(options);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof SandboxError) || !maySucceedElsewhere(error)) throw error;
        failures.push({ backend, error });
        await this.#requireNotMade(backend, options, error);
        options.onProgress?.(`${backend.key} cannot make it (${error.message}): trying the next`);
      }
    }
    throw this.#failed(failures);
  }

  /**
   * The backend at which a sandbox of this name lives.
   * @throws SandboxError `UNAVAILABLE` where that cannot be told
   */
  async #homeOf(name: string, { lifetime }: CreateOptions): Promise<Backend | undefined> {
    for (const backend of this.#backends) if (await backend.holds(name)) return backend;
    // One that is not detached belongs to the program that made it: of this program's all are known, and nobody is to
    // wait for those that do not answer.
    const asked = lifetime?.detached ? this.#backends : this.#backends.filter(({ health }) => health.state === "IDLE");
    const looks = await Promise.allSettled(asked.map((backend) => backend.hasNamed(name)));
    const found = looks.findIndex((look) => look.status === "fulfilled" && look.value);
    if (found >= 0) return asked[found];
    const failed = looks.findIndex(({ status }) => status === "rejected");
    if (failed < 0 || !lifetime?.detached) return undefined;
    const look = looks[failed];
    throw this.#notKnown(name, asked[failed], look?.status === "rejected" ? look.reason : undefined);
  }

  /** A detached one that was half made where the answer was lost would be the first of two of its name. */
  async #requireNotMade(backend: Backend, { name, lifetime }: CreateOptions, error: SandboxError): Promise<void> {
    if (name === undefined || !lifetime?.detached || !isOfBackend(error)) return;
    const made = await backend.hasNamed(name).catch((reason: unknown) => {
      throw this.#notKnown(name, backend, reason);
    });
    if (made) throw error;
  }

  #failed(failures: readonly { readonly backend: Backend; readonly error: SandboxError }[]): SandboxError {
    const [first] = failures;
    if (first && failures.length === 1) return first.error;
    const retryable = failures.find(({ error }) => error.retryable);
    const reasons = failures.map(({ backend, error }) => `${backend.key}: ${error.message}`).join("; ");
    const errors = failures.map(({ error }) => error);
    const { code = "UNAVAILABLE", packageFailure } = (retryable ?? first)?.error ?? {};
    const message = `no backend could make the sandbox: ${reasons}`;
    return this.#error(code, message, new AggregateError(errors), packageFailure);
  }

  #notKnown(name: string, backend: Backend | undefined, cause: unknown): SandboxError {
    const message = `whether sandbox "${name}" lives at "${backend?.key}" cannot be told now (${messageOf(cause)}): try again, or take another name`;
    return this.#error("UNAVAILABLE", message, cause);
  }

  #error(code: ErrorCode, message: string, cause: unknown, packageFailure?: PackageFailure): SandboxError {
    return new SandboxError(code, message, { provider: this.#name, operation: "create", cause, packageFailure });
  }
}

/** An index of packages that one does not reach, another may. */
function maySucceedElsewhere(error: SandboxError): boolean {
  const isOfIndex = error.packageFailure !== undefined && error.retryable;
  return isOfBackend(error) || isOfIndex || elsewhere.has(error.code);
}
