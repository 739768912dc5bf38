import type { Capabilities, PortInfo, ProviderSession, SandboxRef, SnapshotInfo } from "@sandkit/core";
import {
  type BoxFacts,
  type BoxInfo,
  type BulkFiles,
  openPort,
  type RemoteBox,
  recordOfCopy,
  type Terminal,
} from "@sandkit/core/kit";
import type { Sandbox } from "e2b";
import { whyUnreachable } from "./believe.js";
import { bulkFiles } from "./bulk-files.js";
import { e2bCapabilities, longestTtlMs } from "./capabilities.js";
import type { E2BClient } from "./client.js";
import type { E2BMachine } from "./machine.js";
import { addressOf } from "./ports.js";
import { PtyTerminal } from "./terminal.js";

/** E2B counts in seconds, and takes 0 for something else. */
const shortestTtlMs = 1_000;

/** What a box is made of. */
export interface BoxParts {
  readonly client: E2BClient;
  readonly sandbox: Sandbox;
  readonly facts: BoxFacts<E2BMachine>;
  readonly leaseMs: number;
  /** Who programs run as. */
  readonly user: string;
  readonly sandboxUrl: string | undefined;
}

/** A sandbox at E2B, as `remoteSession` takes it. */
export class E2BBox implements RemoteBox {
  readonly ref: SandboxRef;
  readonly capabilities: Capabilities = e2bCapabilities;
  readonly workdir: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly user: string | undefined;
  readonly info: () => Promise<BoxInfo>;
  readonly bulk: BulkFiles;
  readonly pause: NonNullable<RemoteBox["pause"]>;
  readonly client: E2BClient;
  /** After a resume it is another object for the same sandbox. */
  sandbox: Sandbox;
  readonly #parts: BoxParts;

  constructor(parts: BoxParts) {
    const { client, sandbox, facts, user } = parts;
    this.#parts = parts;
    this.client = client;
    this.sandbox = sandbox;
    this.ref = facts.ref;
    this.workdir = facts.workdir;
    this.env = facts.env;
    this.info = facts.info;
    // The terminal is root's.
    this.user = user === "root" ? undefined : user;
    this.bulk = bulkFiles(client, user, () => this.sandbox);
    this.pause = { keeps: "processes", pause: () => client.pause(this.ref.id), resume: () => this.#resume() };
  }

  terminal(user?: string): Terminal {
    return new PtyTerminal(this, user);
  }

  async explainLoss(): Promise<string | undefined> {
    return (await whyUnreachable(this.client, this.ref.id))?.message;
  }

  destroy(): Promise<void> {
    return this.client.kill(this.ref.id);
  }

  port(port: number, { waitMs }: { readonly waitMs?: number | undefined } = {}): Promise<PortInfo> {
    const info = addressOf(this.sandbox, port, this.#parts.sandboxUrl);
    return openPort({ ref: this.ref, port, info, waitMs });
  }

  async snapshot(name?: string): Promise<SnapshotInfo> {
    return { id: await this.client.snapshot(this.ref.id, name) };
  }

  async fork(count: number): Promise<ProviderSession[]> {
    const { facts, leaseMs } = this.#parts;
    const forks = await this.client.fork(this.ref.id, count, leaseMs);
    const copies = forks.map((sandbox): E2BMachine => {
      const record = recordOfCopy(facts.record);
      return { id: sandbox.sandboxId, state: "running", record, createdAt: record.createdAt, sandbox };
    });
    return facts.openCopies(copies);
  }

  async extend(ttlMs: number): Promise<void> {
    await this.client.setTimeout(this.ref.id, Math.min(Math.max(ttlMs, shortestTtlMs), longestTtlMs));
  }

  /** The SDK's own object. */
  get native(): Sandbox {
    return this.sandbox;
  }

  async #resume(): Promise<void> {
    this.sandbox = await this.client.connect(this.ref.id, this.#parts.leaseMs, "resume");
  }
}
