import {
  type BulkFiles,
  type Capabilities,
  decodeRecord,
  type PortInfo,
  type ProviderSession,
  type RemoteBox,
  type SandboxInfo,
  type SandboxRecord,
  type SandboxRef,
  type SnapshotInfo,
  type Terminal,
} from "@sandkit/core";
import type { Sandbox } from "e2b";
import { whyUnreachable } from "./believe.js";
import { bulkFiles } from "./bulk-files.js";
import { e2bCapabilities, longestTtlMs } from "./capabilities.js";
import type { E2BClient, VendorInfo } from "./client.js";
import { providerName } from "./errors.js";
import { portOf, type SharedAddress } from "./ports.js";
import { PtyTerminal } from "./terminal.js";

/** E2B counts in seconds, and takes 0 for something else. */
const shortestTtlMs = 1_000;

/** What a box is made of. */
export interface BoxParts {
  readonly client: E2BClient;
  readonly sandbox: Sandbox;
  readonly record: SandboxRecord;
  readonly origin: SandboxInfo["origin"];
  readonly leaseMs: number;
  /** Who programs run as. */
  readonly user: string;
  readonly address: SharedAddress;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Sessions of copies of a box. */
  readonly openForks: (forks: readonly Sandbox[]) => Promise<ProviderSession[]>;
}

/** A sandbox at E2B, as `remoteSession` takes it. */
export class E2BBox implements RemoteBox {
  readonly ref: SandboxRef;
  readonly capabilities: Capabilities = e2bCapabilities;
  readonly workdir: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly user: string | undefined;
  readonly detached: boolean;
  readonly bulk: BulkFiles;
  readonly pause: NonNullable<RemoteBox["pause"]>;
  readonly client: E2BClient;
  /** After a resume it is another object for the same sandbox. */
  sandbox: Sandbox;
  readonly #parts: BoxParts;

  constructor(parts: BoxParts) {
    this.#parts = parts;
    this.client = parts.client;
    this.sandbox = parts.sandbox;
    this.ref = { provider: providerName, id: parts.sandbox.sandboxId };
    this.workdir = parts.record.workdir;
    this.env = parts.env;
    this.detached = parts.record.detached;
    // The terminal is root's.
    this.user = parts.user === "root" ? undefined : parts.user;
    this.bulk = bulkFiles(this.client, parts.user, () => this.sandbox);
    this.pause = { keeps: "processes", pause: () => this.client.pause(this.#id), resume: () => this.#resume() };
  }

  terminal(user?: string): Terminal {
    return new PtyTerminal(this, user);
  }

  async info(): Promise<Omit<SandboxInfo, "ref" | "shells" | "interpreters">> {
    const found = await this.client.info(this.#id, "info");
    return { ...describe(this.#parts.record, found), origin: this.#parts.origin };
  }

  async explainLoss(): Promise<string | undefined> {
    return (await whyUnreachable(this.client, this.#id))?.message;
  }

  destroy(): Promise<void> {
    return this.client.kill(this.#id);
  }

  port(port: number, options: { readonly waitMs?: number | undefined } = {}): Promise<PortInfo> {
    return portOf(this.sandbox, port, this.#parts.address, options.waitMs);
  }

  async snapshot(name?: string): Promise<SnapshotInfo> {
    return { id: await this.client.snapshot(this.#id, name) };
  }

  async fork(count: number): Promise<ProviderSession[]> {
    const forks = await this.client.fork(this.#id, count, this.#parts.leaseMs);
    return this.#parts.openForks(forks);
  }

  async extend(ttlMs: number): Promise<void> {
    await this.client.setTimeout(this.#id, Math.min(Math.max(ttlMs, shortestTtlMs), longestTtlMs));
  }

  /** The SDK's own object. */
  get native(): Sandbox {
    return this.sandbox;
  }

  get #id(): string {
    return this.ref.id;
  }

  async #resume(): Promise<void> {
    this.sandbox = await this.client.connect(this.#id, this.#parts.leaseMs, "resume");
  }
}

/** What E2B and the record say of a sandbox. */
export function describe(
  record: SandboxRecord,
  found: Pick<VendorInfo, "state" | "endAt"> | undefined,
): Omit<SandboxInfo, "ref" | "origin" | "shells" | "interpreters"> {
  const { name, template, createdAt, labels } = record;
  return {
    state: found?.state ?? "gone",
    name,
    template,
    createdAt,
    labels,
    // A paused one has no end.
    expiresAt: found?.state === "running" ? found.endAt : undefined,
  };
}

/** One of a list. */
export function listed(found: VendorInfo): SandboxInfo | undefined {
  const record = decodeRecord(found.metadata);
  if (!record) return undefined;
  return {
    ...describe(record, found),
    ref: { provider: providerName, id: found.sandboxId },
    origin: "attached",
    // Known to who attaches: asking each box here would make a list as slow as its slowest.
    shells: [],
    interpreters: [],
  };
}
