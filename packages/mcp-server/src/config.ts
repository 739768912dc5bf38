import * as z from "zod";
import { approvalPolicy } from "./approval/policy.js";
import { auditSettings } from "./audit/audit-settings.js";
import { httpSettings } from "./http/http-settings.js";
import { optionalToolNames } from "./tool-names.js";

const name = z.string().min(1, "must not be empty");
const seconds = z.number().positive("must be above 0");

/** How the server makes every sandbox; a model cannot widen any of it. */
const defaults = z.strictObject({
  template: name.meta({ description: "Named starting image; default: the provider's, usually python." }).optional(),
  resources: z
    .strictObject({
      cpus: z.number().positive().optional(),
      memoryMiB: z.int().positive().optional(),
      diskMiB: z.int().positive().optional(),
      pids: z.int().positive().optional(),
    })
    .meta({ description: "Caps on each sandbox." })
    .optional(),
  network: z
    .union([z.enum(["none", "full", "packages"]), z.strictObject({ allow: z.array(name) })], {
      error: 'must be "none", "packages", "full" or { "allow": ["example.com"] }',
    })
    .meta({ description: "What sandboxes may reach; default none." })
    .optional(),
  packages: z
    .array(name)
    .meta({ description: "Packages that each sandbox has from the beginning, as pip names them: requests==2.*" })
    .optional(),
  env: z.record(z.string().min(1), z.string()).meta({ description: "Environment inside each sandbox." }).optional(),
});

/** The config file: the one source of its type, its checks and its published JSON schema. */
export const configSchema = z.strictObject({
  $schema: z.string().meta({ description: "For editors." }).optional(),
  provider: name
    .meta({
      description:
        "wasm, docker, e2b, daytona, balance (several of them), or a package that exports createProvider and optionsSchema.",
    })
    .default("wasm"),
  options: z
    .record(z.string(), z.unknown())
    .meta({ description: "Options of the provider, as its optionsSchema defines them." })
    .default({}),
  defaults: defaults.default({}),
  timeoutSeconds: seconds.meta({ description: "Time limit of a run that names none." }).default(30),
  waitSeconds: z
    .number()
    .min(0, "must not be below 0")
    .meta({ description: "How long a call waits for a run that names no wait_s; then the run goes on by itself." })
    .default(50),
  tools: z
    .array(z.enum(optionalToolNames))
    .meta({ description: "Tools beside the usual ones, where the provider can do what they need." })
    .default([]),
  packagesFromCalls: z
    .boolean()
    .meta({
      description: "Whether calls may name Python packages to install; the index then learns which.",
    })
    .default(true),
  maxRuns: z.int().positive().meta({ description: "Runs of one user at one time; more are told to wait." }).default(16),
  maxTimeoutSeconds: seconds.meta({ description: "Longest time limit that a call may ask for." }).default(600),
  outputChars: z
    .int()
    .min(500)
    .max(1_000_000)
    .meta({ description: "Text of one result, in characters." })
    .default(20_000),
  maxOutputBytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .meta({ description: "Kept of each stream of a run, in bytes; what is too long to show lies in the sandbox." })
    .default(8 * 1024 * 1024),
  maxImages: z.int().min(0).meta({ description: "Images in one result." }).default(4),
  maxImageBytes: z.int().positive().meta({ description: "Largest image shown, in bytes." }).default(1_000_000),
  fileLinks: z
    .boolean()
    .meta({
      description: "Whether runs tell which files they left: with most providers one more request to the sandbox each.",
    })
    .default(true),
  maxInputBytes: z
    .int()
    .positive()
    .max(64 * 1024 * 1024)
    .meta({ description: "Largest code, command, stdin or file content of one call, in bytes." })
    .default(4 * 1024 * 1024),
  maxSandboxes: z.int().positive().meta({ description: "Living sandboxes of one user." }).default(8),
  maxSnapshots: z
    .int()
    .positive()
    .meta({ description: "Snapshots of one user, by the tool of that name; one more is refused." })
    .default(8),
  idleSeconds: seconds
    .max(2_000_000)
    .meta({ description: "A sandbox unused for this long ends; default 1800, and never for the default one of stdio." })
    .optional(),
  detached: z
    .boolean()
    .meta({
      description:
        "Sandboxes outlive the server: it goes on with them after a restart, as do others with the same secret. Needs a provider with lifetime.detached.",
    })
    .default(false),
  replica: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,47}$/, "must be of a-z, 0-9 and -")
    .meta({
      description:
        "With detached, the name of this server among others, the same after a restart; default: host and port.",
    })
    .optional(),
  secret: z
    .string()
    .min(16, "must have at least 16 characters")
    .meta({ description: "Signs the ids of sandboxes, the same at all servers that share them; or SANDKIT_SECRET." })
    .optional(),
  approval: approvalPolicy
    .meta({
      description:
        "Before which calls a person is asked: never, always, on-write (calls that do more than look), or names of tools with *.",
    })
    .default("never"),
  approvalDefault: z
    .enum(["deny", "allow"])
    .meta({ description: "What becomes of such a call where the client cannot ask a person." })
    .default("deny"),
  approvalSeconds: seconds.max(86_400).meta({ description: "How long an answer is waited for." }).default(600),
  audit: auditSettings.meta({ description: "A record of all calls; what ran is in it as a hash alone." }).optional(),
  http: httpSettings.prefault({}).meta({ description: "For the HTTP server alone." }),
});

/** A parsed config: every default is filled in. */
export type Config = z.infer<typeof configSchema>;

/** The JSON schema of the config file, published as `@sandkit/mcp-server/config.schema.json`. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: "Sandkit MCP server", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
