import { createRequire } from "node:module";
import type { Daytona } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { requestTimeoutMs } from "./call.js";
import { providerName } from "./errors.js";
import type { DaytonaOptions } from "./options.js";

/** The SDK, as it is exported. */
export type Sdk = typeof import("@daytonaio/sdk");

const defaultApiUrl = "https://app.daytona.io/api";
const defaultTarget = "us";

/** The SDK and its client, loaded at the first use: that takes a fifth of a second. */
export class DaytonaConnector {
  readonly #options: DaytonaOptions;
  #sdk: Sdk | undefined;
  #client: Daytona | undefined;

  constructor(options: DaytonaOptions) {
    this.#options = options;
  }

  /** Where sandboxes are made, for people. */
  get place(): string {
    return `${this.#apiUrl} (${this.#target})`;
  }

  get sdk(): Sdk {
    // Its build for `require` loads four times as fast as the other one.
    this.#sdk ??= createRequire(import.meta.url)("@daytonaio/sdk") as Sdk;
    return this.#sdk;
  }

  /** The client, from now on one and the same. @throws SandboxError `AUTH` without a key */
  connect(): Daytona {
    this.#client ??= this.#make();
    return this.#client;
  }

  /** Lets the client go; the next use makes another. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.[Symbol.asyncDispose]();
  }

  #make(): Daytona {
    const apiKey = this.#options.apiKey ?? process.env.DAYTONA_API_KEY;
    if (!apiKey) {
      throw new SandboxError(
        "AUTH",
        'Daytona needs a key: set DAYTONA_API_KEY, or the option "apiKey" (keys: https://app.daytona.io/dashboard/keys)',
        { provider: providerName, operation: "connect" },
      );
    }
    // What is not given here, the SDK reads from files in the working directory.
    const config = { apiKey, apiUrl: this.#apiUrl, target: this.#target, requestTimeoutMs, otelEnabled: false };
    // Without polling it keeps a socket open for events, and waits for one that cannot be had.
    return withoutTracing(() => new this.sdk.Daytona({ ...config, useDeprecatedPolling: true }));
  }

  get #apiUrl(): string {
    return this.#options.apiUrl ?? process.env.DAYTONA_API_URL ?? defaultApiUrl;
  }

  get #target(): string {
    return this.#options.target ?? process.env.DAYTONA_TARGET ?? defaultTarget;
  }
}

const tracingSwitches = ["DAYTONA_OTEL_ENABLED", "DAYTONA_EXPERIMENTAL_OTEL_ENABLED"];

/**
 * Makes a client that does not trace: the SDK would take over signals and the logger of the whole program, and a file
 * in the working directory could tell it to. Its option cannot say no, but a variable can.
 */
function withoutTracing<T>(make: () => T): T {
  const before = tracingSwitches.map((name) => [name, process.env[name]] as const);
  for (const name of tracingSwitches) process.env[name] = "false";
  try {
    return make();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
