import { z } from "@sandkit/core";

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const name = z.string().check(z.minLength(1));
  const address = z.url({ protocol: /^https?$/, error: "must be a URL like https://api.example.com" });
  return z
    .strictObject({
      apiKey: z.optional(name.check(z.describe("Key of E2B; default: E2B_API_KEY of the environment"))),
      domain: z.optional(
        name.check(z.describe("Domain of E2B, or of an installation of one's own; default: E2B_DOMAIN, else e2b.app")),
      ),
      apiUrl: z.optional(address.check(z.describe("Where the API is, if not at api.DOMAIN; default: E2B_API_URL"))),
      sandboxUrl: z.optional(
        address.check(z.describe("Where sandboxes are reached, if not below DOMAIN; default: E2B_SANDBOX_URL")),
      ),
      templates: z.optional(
        z
          .record(name, name)
          .check(z.describe("Template of E2B for a template's name, such as { go: 'my-team/go-1-24' }")),
      ),
      user: z.optional(
        name.check(
          z.describe(
            "User of the sandbox that programs run as, out of whose reach our link is unless it is root; default user",
          ),
        ),
      ),
      leaseMs: z.optional(
        z
          .int()
          .check(
            z.gte(1_000),
            z.lte(86_400_000),
            z.describe("How long a sandbox outlives its last client, in ms; default 300000"),
          ),
      ),
      publicPorts: z.optional(
        z.boolean().check(z.describe("Ports answer anybody who knows their address, without a token; default false")),
      ),
      packageHosts: z.optional(
        z.array(name).check(z.describe("Hosts of the indexes that packages come from; default those of PyPI and npm")),
      ),
    })
    .check(z.describe("MicroVMs at E2B"));
});

/** What `e2b` takes. */
export type E2BOptions = z.input<typeof optionsSchema>;

/** What `native` of a create may say. */
export const nativeSchema = z.lazy(() =>
  z.strictObject({
    volumeMounts: z.optional(z.record(z.string(), z.string())),
  }),
);

/** `native` of a create. */
export interface E2BNative {
  /** Names of volumes by the paths where they are mounted. */
  readonly volumeMounts?: Readonly<Record<string, string>> | undefined;
}
