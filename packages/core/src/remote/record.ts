import { createHash, randomUUID } from "node:crypto";
import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import { ownerLabel } from "../owner.js";
import { fingerprintOf } from "../session-registry.js";

/** What a vendor's box carries in its labels, for whoever finds it again. */
export interface SandboxRecord {
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  readonly workdir?: string | undefined;
  /** Of the options that a second create of the name must have too: see {@link optionsDigest}. */
  readonly options?: string | undefined;
  /** Who made it: see `ownerLabel`. */
  readonly owner: string;
  readonly createdAt: Date;
  readonly detached: boolean;
  /** Of one creation alone, known before the vendor has given an id: what became of it is found by it. */
  readonly creation: string;
  /** The ends that it was created with, in milliseconds: those of its copies too. */
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** The user's labels. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The record of what a create makes now. */
export async function recordFor(create: CreateOptions, template: string | undefined): Promise<SandboxRecord> {
  const { name, workdir, labels = {}, lifetime: { detached = false, ttlMs, idleMs } = {} } = create;
  return {
    owner: await ownerLabel(),
    creation: randomUUID(),
    createdAt: new Date(),
    name,
    template,
    workdir,
    options: optionsDigest(create),
    detached,
    ttlMs,
    idleMs,
    labels,
  };
}

/** The record of a copy: another sandbox, without the name of the original. */
export function recordOfCopy(record: SandboxRecord): SandboxRecord {
  return { ...record, name: undefined, options: undefined, creation: randomUUID(), createdAt: new Date() };
}

/** Flat text, as vendors keep it. */
export type RecordValues = Readonly<Record<string, string>>;

const prefix = "sandkit.";
const userPrefix = `${prefix}label.`;
const maxValueBytes = 1024;
const maxKeyBytes = 128;
const maxLabels = 64;

/**
 * The record as labels of a vendor.
 * @throws SandboxError `INVALID` for labels of the user that no vendor keeps
 */
export function encodeRecord(record: SandboxRecord): Record<string, string> {
  const { name, template, workdir, options, owner, createdAt, detached, creation, ttlMs, idleMs, labels } = record;
  const own = {
    owner,
    creation,
    created: String(createdAt.getTime()),
    name,
    template,
    workdir,
    options,
    detached: detached ? "true" : undefined,
    ttl: ttlMs?.toString(),
    idle: idleMs?.toString(),
  };
  const given = Object.entries(own).flatMap(([key, value]) => (value === undefined ? [] : [[prefix + key, value]]));
  const values: Record<string, string> = { ...Object.fromEntries(given), ...labelValues(labels) };
  for (const [key, value] of Object.entries(values)) requireShort(key, value);
  if (Object.keys(labels).length > maxLabels) throw invalid(`option "labels": at most ${maxLabels} of them`);
  return values;
}

/** The record of a box; undefined for one that was made by somebody else. */
export function decodeRecord(values: RecordValues): SandboxRecord | undefined {
  const own = (key: string) => values[prefix + key];
  const owner = own("owner");
  const creation = own("creation");
  const createdAt = numberOf(own("created"));
  if (owner === undefined || creation === undefined || createdAt === undefined) return undefined;
  const labels = Object.entries(values).filter(([key]) => key.startsWith(userPrefix));
  return {
    owner,
    creation,
    createdAt: new Date(createdAt),
    name: own("name"),
    template: own("template"),
    workdir: own("workdir"),
    options: own("options"),
    detached: own("detached") === "true",
    ttlMs: numberOf(own("ttl")),
    idleMs: numberOf(own("idle")),
    labels: Object.fromEntries(labels.map(([key, value]) => [key.slice(userPrefix.length), value])),
  };
}

/** What a vendor is to be asked for, to find the boxes with these labels of the user. */
export function labelValues(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [userPrefix + key, value]));
}

/** What a vendor is to be asked for, to find the boxes of a name. */
export function nameValues(name: string): Record<string, string> {
  return { [`${prefix}name`]: name };
}

/** What a vendor is to be asked for, to find what came of one creation. */
export function creationValues(creation: string): Record<string, string> {
  return { [`${prefix}creation`]: creation };
}

/** Tells options apart without telling what they are: they may hold secrets. */
export function optionsDigest(options: CreateOptions): string {
  return createHash("sha256").update(fingerprintOf(options)).digest("hex").slice(0, 32);
}

function numberOf(text: string | undefined): number | undefined {
  const number = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function requireShort(key: string, value: string): void {
  const subject = key.startsWith(userPrefix) ? `label ${JSON.stringify(key.slice(userPrefix.length))}` : `"${key}"`;
  if (Buffer.byteLength(key) > maxKeyBytes + userPrefix.length) {
    throw invalid(`${subject}: its name is longer than ${maxKeyBytes} bytes: shorten it`);
  }
  if (Buffer.byteLength(value) > maxValueBytes) {
    throw invalid(`${subject}: its value is longer than ${maxValueBytes} bytes: shorten it`);
  }
}

function invalid(message: string): SandboxError {
  return new SandboxError("INVALID", message, { operation: "create" });
}
