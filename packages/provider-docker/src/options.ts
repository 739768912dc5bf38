import { z } from "@sandkit/core";
import type Dockerode from "dockerode";
import { areNested, whyUnfitSource } from "./mounts.js";

const runtime = () => z.string().check(z.regex(/^[\w.-]+$/));

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const name = z.string().check(z.minLength(1));
  const count = z.int().check(z.gte(1));
  const milliseconds = z.int().check(z.lte(2_147_483_647));
  const webAddress = z.url({ protocol: /^https?$/, error: "must be an address by https or http" });
  const dockerode = z.custom<Dockerode | Dockerode.DockerOptions>(
    (value) => typeof value === "object" && value !== null,
    { error: "must be an instance of dockerode, or its options" },
  );
  const pool = z.strictObject({
    size: count.check(z.lte(64), z.describe("Containers kept ready, about 15 MiB each")),
  });
  const packages = z.strictObject({
    indexUrl: z.optional(
      webAddress.check(z.describe("Index of Python's packages (simple API); default https://pypi.org/simple/")),
    ),
    npmRegistry: z.optional(
      webAddress.check(z.describe("Registry of Node's packages; default https://registry.npmjs.org/")),
    ),
    memoryMiB: z.optional(
      z
        .int()
        .check(z.gte(256), z.describe("Memory of an installation, half of it for what is installed; default 4096")),
    ),
    timeoutMs: z.optional(
      milliseconds.check(z.gte(1), z.describe("How long an installation may take, in ms; default 240000")),
    ),
  });
  return z
    .strictObject({
      host: z.optional(
        name.check(
          z.describe("Where the engine listens, as in DOCKER_HOST; default: DOCKER_HOST, context, usual sockets"),
        ),
      ),
      dockerode: z.optional(dockerode.check(z.describe("A dockerode instance, or its options; in programs only"))),
      images: z.optional(
        z
          .record(name, name)
          .check(z.describe("Image of a template, instead of the default: { python: 'registry/python@sha256:…' }")),
      ),
      pull: z.optional(
        z
          .enum(["missing", "never"])
          .check(
            z.describe("Whether a missing image is pulled (or built, where its template says so); default missing"),
          ),
      ),
      runtime: z.optional(
        runtime().check(z.describe("Runtime of the engine, such as runsc (gVisor); default: its own")),
      ),
      memoryMiB: z.optional(count.check(z.describe("Memory of each sandbox, files included; default 2048"))),
      diskMiB: z.optional(count.check(z.describe("Writable space, which counts as memory; default: half"))),
      cpus: z.optional(z.number().check(z.positive(), z.describe("Processors of each sandbox; default 2, or all"))),
      pids: z.optional(z.int().check(z.gte(16), z.describe("Processes of each sandbox; default 512"))),
      leaseMs: z.optional(
        milliseconds.check(
          z.gte(1_000),
          z.describe("How long a detached sandbox outlives its last client, in ms; default 300000"),
        ),
      ),
      pool: z.optional(pool.check(z.describe("Containers started ahead of time, each handed out once; default none"))),
      packages: z.optional(
        packages.check(z.describe("Packages of Python and Node: where they come from, and how they are installed")),
      ),
      packageHosts: z.optional(
        z
          .array(name)
          .check(
            z.describe(
              "Hosts or addresses of the indexes that packages come from, which may be private; default those of PyPI and npm",
            ),
          ),
      ),
      unsafeRoot: z.optional(
        z
          .boolean()
          .check(z.describe("Programs run as root on a writable root without a cap on its size; default false")),
      ),
      mountSources: z.optional(
        z
          .array(z.string())
          .check(
            z.maxLength(100),
            z.describe(
              'Folders of the engine\'s machine, exactly these, that "native.mounts" may give a sandbox; default none',
            ),
          ),
      ),
      unsafeMounts: z.optional(
        z
          .boolean()
          .check(
            z.describe('"mountSources" may name what gives away the machine, such as /etc or a socket; default false'),
          ),
      ),
      unsafeBridge: z.optional(
        z
          .boolean()
          .check(
            z.describe(
              "network: full joins the engine's bridge, which reaches this machine, in place of the proxy; default false",
            ),
          ),
      ),
    })
    .check(
      z.superRefine(({ mountSources = [], unsafeMounts = false }, context) => {
        for (const source of mountSources) {
          const why = whyUnfitSource(source, unsafeMounts);
          if (why) context.addIssue({ code: "custom", path: ["mountSources"], message: `"${source}" ${why}` });
        }
        const nested = areNested(mountSources);
        if (!nested) return;
        const message = `"${nested[0]}" lies in "${nested[1]}": a sandbox that writes in one could change what the other is`;
        context.addIssue({ code: "custom", path: ["mountSources"], message });
      }),
      z.describe("Hardened containers on Docker, Podman, or what else speaks Docker's API"),
    );
});

/** Defaults for the sandboxes of a provider; `resources` of a create go before them. */
export type DockerOptions = z.input<typeof optionsSchema>;

/** What `native` of a create may say. */
export const nativeSchema = z.lazy(() => {
  const user = z.string().check(z.regex(/^\d+:\d+$/, 'must be numeric, like "1000:1000"'));
  const mount = z.strictObject({ source: z.string(), target: z.string(), readOnly: z.optional(z.boolean()) });
  const gpu = z.string().check(z.regex(/^[\w:.-]+$/));
  const gpus = z.union([z.literal("all"), z.int().check(z.gte(1)), z.array(gpu).check(z.minLength(1))], {
    error: 'must be "all", a number from 1, or a list of indices or UUIDs such as ["0"]',
  });
  return z.strictObject({
    user: z.optional(user),
    runtime: z.optional(runtime()),
    mounts: z.optional(z.array(mount).check(z.maxLength(32))),
    gpus: z.optional(gpus),
  });
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
  /**
   * Numeric `uid:gid` of all programs; default: a number from 20000 to 59999 for both, of this sandbox alone. Root only
   * with `unsafeRoot`.
   */
  readonly user?: string | undefined;
  /** Runtime of the engine for this sandbox, such as `runsc`; default: that of the provider's options. */
  readonly runtime?: string | undefined;
  /** Folders of the engine's machine, 32 at most: only what `mountSources` of the provider lists. */
  readonly mounts?: readonly DockerMount[] | undefined;
  /** GPUs by NVIDIA's container toolkit: all, so many, or these (index or UUID). Their driver is a way to the kernel. */
  readonly gpus?: "all" | number | readonly string[] | undefined;
}
