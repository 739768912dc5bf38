import type Dockerode from "dockerode";
import * as z from "zod";
import { areNested, whyUnfitSource } from "./mounts.js";

const user = z.string().regex(/^\d+:\d+$/, 'must be numeric, like "1000:1000"');
const runtime = z.string().regex(/^[\w.-]+$/);
const webAddress = z.url({ protocol: /^https?$/, error: "must be an address by https or http" });

/** Options of the provider itself, for config files and programs alike. */
export const optionsSchema = z
  .strictObject({
    host: z.string().min(1).optional().meta({
      description: "Where the engine listens, as in DOCKER_HOST; default: DOCKER_HOST, context, usual sockets",
    }),
    dockerode: z
      .custom<Dockerode | Dockerode.DockerOptions>((value) => typeof value === "object" && value !== null, {
        error: "must be an instance of dockerode, or its options",
      })
      .optional()
      .meta({ description: "A dockerode instance, or its options; in programs only" }),
    images: z
      .record(z.string().min(1), z.string().min(1))
      .optional()
      .meta({ description: "Image of a template, instead of the default: { python: 'registry/python@sha256:…' }" }),
    pull: z.enum(["missing", "never"]).optional().meta({
      description: "Whether a missing image is pulled (or built, where its template says so); default missing",
    }),
    runtime: runtime
      .optional()
      .meta({ description: "Runtime of the engine, such as runsc (gVisor); default: its own" }),
    memoryMiB: z.int().min(1).optional().meta({ description: "Memory of each sandbox, files included; default 2048" }),
    diskMiB: z.int().min(1).optional().meta({ description: "Writable space, which counts as memory; default: half" }),
    cpus: z.number().positive().optional().meta({ description: "Processors of each sandbox; default 2, or all" }),
    pids: z.int().min(16).optional().meta({ description: "Processes of each sandbox; default 512" }),
    leaseMs: z
      .int()
      .min(1_000)
      .max(2_147_483_647)
      .optional()
      .meta({ description: "How long a detached sandbox outlives its last client, in ms; default 300000" }),
    pool: z
      .strictObject({
        size: z.int().min(1).max(64).meta({ description: "Containers kept ready, about 25 MiB each" }),
      })
      .optional()
      .meta({ description: "Containers started ahead of time, each handed out once; default none" }),
    packages: z
      .strictObject({
        indexUrl: webAddress
          .optional()
          .meta({ description: "Index of Python's packages (simple API); default https://pypi.org/simple/" }),
        npmRegistry: webAddress
          .optional()
          .meta({ description: "Registry of Node's packages; default https://registry.npmjs.org/" }),
        memoryMiB: z
          .int()
          .min(256)
          .optional()
          .meta({ description: "Memory of an installation, half of it for what is installed; default 4096" }),
        timeoutMs: z
          .int()
          .min(1)
          .max(2_147_483_647)
          .optional()
          .meta({ description: "How long an installation may take, in ms; default 240000" }),
      })
      .optional()
      .meta({ description: "Packages of Python and Node: where they come from, and how they are installed" }),
    packageHosts: z.array(z.string().min(1)).optional().meta({
      description:
        "Hosts or addresses of the indexes that packages come from, which may be private; default those of PyPI and npm",
    }),
    unsafeRoot: z
      .boolean()
      .optional()
      .meta({ description: "Programs run as root on a writable root without a cap on its size; default false" }),
    mountSources: z.array(z.string()).max(100).optional().meta({
      description:
        'Folders of the engine\'s machine, exactly these, that "native.mounts" may give a sandbox; default none',
    }),
    unsafeMounts: z.boolean().optional().meta({
      description: '"mountSources" may name what gives away the machine, such as /etc or a socket; default false',
    }),
    unsafeBridge: z.boolean().optional().meta({
      description:
        "network: full joins the engine's bridge, which reaches this machine, in place of the proxy; default false",
    }),
  })
  .superRefine(({ mountSources = [], unsafeMounts = false }, context) => {
    for (const source of mountSources) {
      const why = whyUnfitSource(source, unsafeMounts);
      if (why) context.addIssue({ code: "custom", path: ["mountSources"], message: `"${source}" ${why}` });
    }
    const nested = areNested(mountSources);
    if (!nested) return;
    const message = `"${nested[0]}" lies in "${nested[1]}": a sandbox that writes in one could change what the other is`;
    context.addIssue({ code: "custom", path: ["mountSources"], message });
  })
  .meta({ description: "Hardened containers on Docker, Podman, or what else speaks Docker's API" });

/** Defaults for the sandboxes of a provider; `resources` of a create go before them. */
export type DockerOptions = z.input<typeof optionsSchema>;

const mount = z.strictObject({ source: z.string(), target: z.string(), readOnly: z.boolean().optional() });
const gpus = z.union([z.literal("all"), z.int().min(1), z.array(z.string().regex(/^[\w:.-]+$/)).min(1)], {
  error: 'must be "all", a number from 1, or a list of indices or UUIDs such as ["0"]',
});

/** What `native` of a create may say. */
export const nativeSchema = z.strictObject({
  user: user.optional(),
  runtime: runtime.optional(),
  mounts: z.array(mount).max(32).optional(),
  gpus: gpus.optional(),
});

/** A folder of the engine's machine in a sandbox. */
export interface DockerMount {
  /** Absolute, one of `mountSources` of the provider. Links in it are followed by the engine, on its machine. */
  readonly source: string;
  /** Absolute, a directory of its own. */
  readonly target: string;
  /** Default true. What is written through it counts against no cap, and stays. */
  readonly readOnly?: boolean | undefined;
}

/** `native` of a create. */
export interface DockerNative {
  /** Numeric `uid:gid` of all programs; default: a number from 20000 to 59999 for both, of this sandbox alone. Root only with `unsafeRoot`. */
  readonly user?: string | undefined;
  /** Runtime of the engine for this sandbox. */
  readonly runtime?: string | undefined;
  /** Only what `mountSources` of the provider lists. */
  readonly mounts?: readonly DockerMount[] | undefined;
  /** GPUs by NVIDIA's container toolkit: all, so many, or these (index or UUID). Their driver is a way to the kernel. */
  readonly gpus?: "all" | number | readonly string[] | undefined;
}
