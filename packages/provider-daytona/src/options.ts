import * as z from "@sandkit/core/zod";

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
  const name = z.string().min(1);
  const lifeMs = z.int().min(60_000).max(2_147_483_647);
  return z
    .strictObject({
      apiKey: name.optional().meta({ description: "Key of the API; default: DAYTONA_API_KEY" }),
      apiUrl: url.optional().meta({
        description: "Where the API is; default: DAYTONA_API_URL, then https://app.daytona.io/api",
      }),
      target: name.optional().meta({ description: "Region of new sandboxes; default: DAYTONA_TARGET, then us" }),
      snapshots: z
        .record(name, name)
        .optional()
        .meta({ description: "Snapshot of a template, instead of the default: { data: 'our-data:3' }" }),
      leaseMs: lifeMs.optional().meta({
        description: "How long a sandbox outlives its last client, in ms, at least a minute; default 300000",
      }),
      pausedMs: lifeMs.optional().meta({
        description: "How long a paused sandbox is kept where its lifetime does not say, in ms; default a week",
      }),
      packageHosts: z
        .array(name)
        .optional()
        .meta({ description: "Hosts of the indexes that packages come from; default those of PyPI and npm" }),
    })
    .meta({ description: "Sandboxes at Daytona, hosted or self-hosted" });
});

/** Defaults for the sandboxes of a provider. */
export type DaytonaOptions = z.input<typeof optionsSchema>;

/** What `native` of a create may say. */
export const nativeSchema = z.lazy(() => {
  const name = z.string().min(1);
  return z.strictObject({
    user: name.optional(),
    public: z.boolean().optional(),
    volumes: z.array(z.strictObject({ volumeId: name, mountPath: name, subpath: name.optional() })).optional(),
    secrets: z.record(name, name).optional(),
  });
});

/** `native` of a create. */
export interface DaytonaNative {
  /** User that programs run as; default: the snapshot's. */
  readonly user?: string | undefined;
  /** Ports are reached without a token; default false. */
  readonly public?: boolean | undefined;
  /** Volumes of the organization, by id or name, and where they are mounted. */
  readonly volumes?:
    | readonly {
        readonly volumeId: string;
        readonly mountPath: string;
        readonly subpath?: string | undefined;
      }[]
    | undefined;
  /** Name of a variable to the name of a secret of the organization: programs see a placeholder, allowed hosts the value. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
}
