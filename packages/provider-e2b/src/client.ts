import { createRequire } from "node:module";
import type { E2B, Sandbox, SandboxInfo, SandboxListOpts, SandboxOpts } from "e2b";
import { type CallOptions, call } from "./call.js";
import { e2bError, isMissing, refusal } from "./errors.js";
import type { E2BOptions } from "./options.js";

/** What E2B tells of a sandbox, in a list too. */
export type VendorInfo = SandboxInfo;

const createDeadlineMs = 120_000;
/** Pausing, and taking a picture of a machine, writes its memory down. */
const snapshotDeadlineMs = 120_000;
const pageSize = 100;

/** Makes the client at its first use: loading the SDK takes a tenth of a second. */
export class E2BConnector {
  readonly #options: E2BOptions;
  #client: E2BClient | undefined;

  constructor(options: E2BOptions) {
    this.#options = options;
  }

  /** @throws SandboxError `AUTH` without a key, naming the variable */
  connect(operation: string): E2BClient {
    this.#client ??= new E2BClient(sdkClient(this.#options, operation));
    return this.#client;
  }
}

function sdkClient({ apiKey = process.env.E2B_API_KEY, domain, apiUrl, sandboxUrl }: E2BOptions, operation: string) {
  if (!apiKey) {
    const next = "set E2B_API_KEY (a key is made at https://e2b.dev/dashboard), or give the option apiKey";
    throw refusal("AUTH", `no key of E2B: ${next}`, operation);
  }
  // The SDK's modules for `import` are found by no runtime of ours, and its others load in half the time this way.
  const sdk: typeof import("e2b") = createRequire(import.meta.url)("e2b");
  const places = { ...(domain && { domain }), ...(apiUrl && { apiUrl }), ...(sandboxUrl && { sandboxUrl }) };
  // The debug mode, which an environment can turn on, creates and ends nothing.
  return new sdk.E2B({ apiKey, ...places, debug: false, retries: 3 });
}

/** The calls to E2B that sandboxes need, each with a deadline and errors of the contract. */
export class E2BClient {
  readonly #sdk: E2B;

  constructor(sdk: E2B) {
    this.#sdk = sdk;
  }

  /**
   * Makes one. Never given up in the middle: whether there is one then would not be known.
   * @throws SandboxError; only one that `isRefusal` says for sure that none was made
   */
  async create(template: string, options: SandboxOpts): Promise<Sandbox> {
    const context = { operation: "create", subject: `a sandbox of template ${template}` };
    return await call(context, (attempt) => this.#sdk.Sandbox.create(template, { ...options, ...timing(attempt) }), {
      deadlineMs: createDeadlineMs,
      again: "refused",
    });
  }

  /**
   * Connects to a running one, or resumes a paused one. The end of its life comes no earlier than `ttlMs` from now.
   * @throws SandboxError `NOT_FOUND` when there is none of that id
   */
  async connect(sandboxId: string, ttlMs: number, operation: string, signal?: AbortSignal): Promise<Sandbox> {
    const about = { operation, subject: `sandbox ${sandboxId}`, sandboxId };
    return await call(
      about,
      (attempt) => this.#sdk.Sandbox.connect(sandboxId, { timeoutMs: ttlMs, ...timing(attempt) }),
      { deadlineMs: createDeadlineMs, signal },
    );
  }

  /** Undefined when there is none of that id. */
  async info(sandboxId: string, operation: string, options?: CallOptions): Promise<VendorInfo | undefined> {
    const about = { operation, subject: `sandbox ${sandboxId}`, sandboxId };
    try {
      return await call(about, (attempt) => this.#sdk.Sandbox.getInfo(sandboxId, timing(attempt)), options);
    } catch (reason) {
      const error = e2bError(reason, about);
      if (isMissing(error)) return undefined;
      throw reason;
    }
  }

  /** Those with all of this metadata, running and paused, page by page. */
  async *list(metadata: Readonly<Record<string, string>>, operation: string): AsyncGenerator<VendorInfo> {
    const query: SandboxListOpts["query"] = { state: ["running", "paused"], metadata: { ...metadata } };
    const pages = this.#sdk.Sandbox.list({ query, limit: pageSize });
    while (pages.hasNext) {
      // A page that failed leaves the place where it was.
      yield* await call({ operation, subject: "sandboxes" }, (attempt) => pages.nextItems(timing(attempt)));
    }
  }

  /** Ends one; one that is not there is fine. @throws SandboxError when it may still exist */
  async kill(sandboxId: string, operation = "destroy"): Promise<void> {
    const about = { operation, subject: `sandbox ${sandboxId}`, sandboxId };
    await call(about, (attempt) => this.#sdk.Sandbox.kill(sandboxId, timing(attempt)));
  }

  /** Moves the end of life to `ttlMs` from now. */
  async setTimeout(sandboxId: string, ttlMs: number): Promise<void> {
    const about = { operation: "extend", subject: `sandbox ${sandboxId}`, sandboxId };
    await call(about, (attempt) => this.#sdk.Sandbox.setTimeout(sandboxId, ttlMs, timing(attempt)));
  }

  /** With its memory: programs stand still. One that is paused already is fine. */
  async pause(sandboxId: string): Promise<void> {
    const about = { operation: "pause", subject: `sandbox ${sandboxId}`, sandboxId };
    await call(about, (attempt) => this.#sdk.Sandbox.pause(sandboxId, { keepMemory: true, ...timing(attempt) }), {
      deadlineMs: snapshotDeadlineMs,
    });
  }

  async snapshot(sandboxId: string, name: string | undefined): Promise<string> {
    const about = { operation: "snapshot", subject: `sandbox ${sandboxId}`, sandboxId };
    const { snapshotId } = await call(
      about,
      (attempt) => this.#sdk.Sandbox.createSnapshot(sandboxId, { ...(name && { name }), ...timing(attempt) }),
      { deadlineMs: snapshotDeadlineMs, again: "refused" },
    );
    return snapshotId;
  }

  /** All of them or none: those that did start are ended when one did not. */
  async fork(sandboxId: string, count: number, ttlMs: number): Promise<Sandbox[]> {
    const about = { operation: "fork", subject: `sandbox ${sandboxId}`, sandboxId };
    const results = await call(
      about,
      (attempt) => this.#sdk.Sandbox.fork(sandboxId, { count, timeoutMs: ttlMs, ...timing(attempt) }),
      { deadlineMs: snapshotDeadlineMs, again: "refused" },
    );
    const failures = results.filter((result) => result instanceof Error);
    const made = results.filter((result): result is Sandbox => !(result instanceof Error));
    if (failures.length === 0) return made;
    await Promise.all(made.map((fork) => this.kill(fork.sandboxId, "fork")));
    throw e2bError(failures[0], about);
  }

  /** Replaces what it may reach. */
  async setNetwork(sandboxId: string, network: Parameters<typeof Sandbox.updateNetwork>[1]): Promise<void> {
    const about = { operation: "create", subject: `network of sandbox ${sandboxId}`, sandboxId };
    await call(about, (attempt) => this.#sdk.Sandbox.updateNetwork(sandboxId, network, timing(attempt)));
  }
}

/** The SDK takes no member that is there and undefined for one that is not. */
function timing({ requestTimeoutMs, signal }: { requestTimeoutMs: number; signal?: AbortSignal | undefined }) {
  return { requestTimeoutMs, ...(signal && { signal }) };
}
