import {
  type AskedPackages,
  type CreateOptions,
  type EgressPolicy,
  packageLanguageOf,
  parseOptions,
  parsePackages,
} from "@sandkit/core";
import type { MountSettings } from "dockerode";
import { egressOf } from "./egress.js";
import { providerName, refusal } from "./errors.js";
import { mountSettings } from "./mounts.js";
import { type DockerNative, type DockerOptions, nativeSchema } from "./options.js";
import { type Indexes, indexesOf, ownIndexes } from "./packages/indexes.js";
import { defaultTemplate, findTemplate, type Template } from "./templates.js";
import { layOutWorkspace, type Workspace } from "./workspace.js";

const defaultMemoryMiB = 2048;
const defaultPids = 512;
const minPids = 16;
/**
 * Where the user of a sandbox is taken from. The kernel counts some things for each user on the whole machine (watches,
 * buffers of pipes), so that no two should be the same, nor be a person's. Engines with user namespaces know no more than
 * 65,536.
 */
const users = { first: 20_000, end: 60_000 };
/** Docker takes no less. */
const minCpus = 0.01;

/** What a create asks for, parsed; what only the engine knows is still open. */
export interface SandboxPlan {
  readonly template: Template;
  /** The name that was asked for; absent when an image was. */
  readonly templateName?: string | undefined;
  readonly workspace: Workspace;
  readonly user: string;
  /** Whether any other number would do. */
  readonly anyUser: boolean;
  readonly runtime?: string | undefined;
  readonly network: "none" | "bridge";
  /** What programs may be connected with through the agent. */
  readonly egress?: EgressPolicy | undefined;
  /** Ports are to be reached, which an agent alone can do. */
  readonly hasPorts: boolean;
  /** Absent: two, or all that there are. */
  readonly cpus?: number | undefined;
  readonly pids: number;
  readonly env: Readonly<Record<string, string>>;
  readonly unsafeRoot: boolean;
  readonly packages: AskedPackages;
  /** Where packages come from. */
  readonly indexes: Indexes;
  readonly mounts: readonly MountSettings[];
  readonly gpus?: DockerNative["gpus"];
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<DockerNative>, options: DockerOptions): SandboxPlan {
  const { resources = {} } = create;
  const native = parseNative(create.native);
  const templateName = create.image === undefined ? (create.template ?? defaultTemplate) : undefined;
  const pids = resources.pids ?? options.pids ?? defaultPids;
  if (pids < minPids) throw refusal("INVALID", `resources.pids ${pids}: must be at least ${minPids}`);
  if (resources.cpus !== undefined && resources.cpus < minCpus) {
    throw refusal("INVALID", `resources.cpus ${resources.cpus}: must be at least ${minCpus}`);
  }
  const user = native.user ?? anyUser();
  const policy = create.network ?? "none";
  const isRaw = policy === "full" && options.unsafeBridge === true;
  if (!options.unsafeRoot && /^0*:|:0*$/.test(user)) {
    throw refusal(
      "INVALID",
      `native.user "${user}" is root: docker({ unsafeRoot: true }) allows root for all sandboxes`,
    );
  }
  const indexes = indexesOf(options, create.env);
  // What cannot be reached need not be known.
  const env = policy === "none" ? (create.env ?? {}) : { ...indexes, ...create.env };
  const workspace = layOutWorkspace({
    workdir: create.workdir,
    memoryMiB: resources.memoryMiB ?? options.memoryMiB ?? defaultMemoryMiB,
    diskMiB: resources.diskMiB ?? (resources.memoryMiB === undefined ? options.diskMiB : undefined),
  });
  return {
    template: templateName === undefined ? imageTemplate(create.image) : findTemplate(templateName, options.images),
    templateName,
    workspace,
    user,
    anyUser: native.user === undefined,
    runtime: native.runtime ?? options.runtime,
    network: isRaw ? "bridge" : "none",
    egress: isRaw ? undefined : egressOf(policy, env, ownIndexes(options)),
    hasPorts: (create.ports?.length ?? 0) > 0,
    cpus: resources.cpus ?? options.cpus,
    pids,
    env,
    unsafeRoot: options.unsafeRoot ?? false,
    packages: parsePackages(providerName, create.packages, packageLanguageOf(templateName)),
    indexes,
    mounts: mountSettings(native.mounts ?? [], options, workspace),
    gpus: native.gpus,
  };
}

/** A number for the user of one sandbox. */
export function anyUser(): string {
  // Here, because the import of this package would wait for it.
  const { randomInt } = process.getBuiltinModule("node:crypto");
  const id = randomInt(users.first, users.end);
  return `${id}:${id}`;
}

/**
 * Equal for sandboxes that can live in the same container, before anything was said to its agent. All that the plan says
 * is fixed at birth, but for what is taken out here.
 */
export function birthKey({ env, templateName, template, workspace, user, egress, ...fixed }: SandboxPlan): string {
  const { workdir, ...space } = workspace;
  const own = fixed.anyUser ? undefined : user;
  // Where connections lead is said at first; that there are some, not every image can do.
  return JSON.stringify([template.image, template.build, space, own, egress !== undefined, fixed]);
}

function imageTemplate(image = ""): Template {
  if (/^\S+$/.test(image)) return { name: image, image };
  throw refusal("INVALID", `image ${JSON.stringify(image)}: must be a name like python:3.12-slim`);
}

function parseNative(native: unknown): DockerNative {
  const about = { provider: providerName, operation: "create", what: 'option "native"' };
  return parseOptions(nativeSchema, native ?? {}, about);
}
