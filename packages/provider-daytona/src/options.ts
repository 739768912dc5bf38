import { z } from "@sandkit/core";

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const address = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
  const name = z.string().check(z.minLength(1));
  const lifeMs = z.int().check(z.gte(60_000), z.lte(2_147_483_647));
  return z
    .strictObject({
      apiKey: z.optional(name.check(z.describe("Key of the API; default: DAYTONA_API_KEY"))),
      apiUrl: z.optional(
        address.check(z.describe("Where the API is; default: DAYTONA_API_URL, then https://app.daytona.io/api")),
      ),
      target: z.optional(name.check(z.describe("Region of new sandboxes; default: DAYTONA_TARGET, then us"))),
      snapshots: z.optional(
        z
          .record(name, name)
          .check(z.describe("Snapshot of a template, instead of the default: { data: 'our-data:3' }")),
      ),
      leaseMs: z.optional(
        lifeMs.check(
          z.describe("How long a sandbox outlives its last client, in ms, at least a minute; default 300000"),
        ),
      ),
      pausedMs: z.optional(
        lifeMs.check(
          z.describe("How long a paused sandbox is kept until it is resumed, in ms, at least a minute; default a week"),
        ),
      ),
      packageHosts: z.optional(
        z.array(name).check(z.describe("Hosts of the indexes that packages come from; default those of PyPI and npm")),
      ),
    })
    .check(z.describe("Sandboxes at Daytona, hosted or self-hosted"));
});

/** Defaults for the sandboxes of a provider. */
export type DaytonaOptions = z.input<typeof optionsSchema>;

/** What `native` of a create may say. */
export const nativeSchema = z.lazy(() => {
  const name = z.string().check(z.minLength(1));
  const volume = z.strictObject({ volumeId: name, mountPath: name, subpath: z.optional(name) });
  return z.strictObject({
    user: z.optional(name),
    public: z.optional(z.boolean()),
    volumes: z.optional(z.array(volume)),
    secrets: z.optional(z.record(name, name)),
  });
});

/** `native` of a create. */
export interface DaytonaNative {
  /** User that programs run as; default: the snapshot's. */
  readonly user?: string | undefined;
  /** Ports are reached without a token; default false. */
  readonly public?: boolean | undefined;
  /** Volumes of the organization, by id or name, where they are mounted, and which folder of them. */
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
