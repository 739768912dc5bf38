import * as z from "@sandkit/core/zod";

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const milliseconds = z.int().min(1_000).max(86_400_000);
  const address = z.url({ protocol: /^https?$/, error: "must be a URL like https://api.example.com" });
  return z
    .strictObject({
      apiKey: z.string().min(1).optional().meta({ description: "Key of E2B; default: E2B_API_KEY of the environment" }),
      domain: z
        .string()
        .min(1)
        .optional()
        .meta({ description: "Domain of E2B, or of an installation of one's own; default: E2B_DOMAIN, else e2b.app" }),
      apiUrl: address.optional().meta({
        description: "Where the API is, if not at api.DOMAIN; default: E2B_API_URL",
      }),
      sandboxUrl: address.optional().meta({
        description: "Where sandboxes are reached, if not below DOMAIN; default: E2B_SANDBOX_URL",
      }),
      templates: z
        .record(z.string().min(1), z.string().min(1))
        .optional()
        .meta({ description: "Template of E2B for a template's name, such as { go: 'my-team/go-1-24' }" }),
      user: z.string().min(1).optional().meta({
        description:
          "User of the sandbox that programs run as, out of whose reach our link is unless it is root; default user",
      }),
      leaseMs: milliseconds.optional().meta({
        description: "How long a sandbox outlives its last client, in ms; default 300000",
      }),
      publicPorts: z
        .boolean()
        .optional()
        .meta({ description: "Ports answer anybody who knows their address, without a token; default false" }),
      packageHosts: z
        .array(z.string().min(1))
        .optional()
        .meta({ description: "Hosts of the indexes that packages come from; default those of PyPI and npm" }),
    })
    .meta({ description: "Micro machines at E2B" });
});

/** What `e2b` takes. */
export type E2BOptions = z.input<typeof optionsSchema>;

/** What `native` of a create may say. */
export const nativeSchema = z.lazy(() =>
  z.strictObject({
    volumeMounts: z.record(z.string(), z.string()).optional(),
  }),
);

/** `native` of a create. */
export interface E2BNative {
  /** Names of volumes by the paths where they are mounted. */
  readonly volumeMounts?: Readonly<Record<string, string>> | undefined;
}
