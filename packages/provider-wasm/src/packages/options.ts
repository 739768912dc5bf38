import * as z from "zod";

const webAddress = z.url({ protocol: /^https?$/ });

/** Where packages of Python come from, and when. */
export const packagesSchema = z
  .strictObject({
    indexUrl: webAddress.optional().meta({
      description: "Index of packages (simple API, PEP 503 and 691); default: the environment's PIP_INDEX_URL",
    }),
    packageBaseUrl: webAddress.optional().meta({
      description: "Where Pyodide's own packages lie; default: where its makers publish them",
    }),
    wheelDir: z.string().min(1).optional().meta({
      description: "Directory of wheels on this machine, looked at before any network",
    }),
    cacheDir: z
      .union([z.literal(false), z.string().min(1)])
      .optional()
      .meta({
        description:
          "Directory for what was fetched, or false; default: in the user's cache, ~/.cache/sandkit/packages",
      }),
    autoInstall: z.boolean().optional().meta({
      description: "Installs what the code imports and the sandbox lacks, before it runs; default false",
    }),
    timeoutMs: z.int().min(1).max(600_000).optional().meta({
      description: "Longest time of one request, in milliseconds; default 60000",
    }),
  })
  .meta({ description: "Packages of Python: where they come from" });

/** Where packages of Python come from, and when. */
export type PackagesOptions = z.input<typeof packagesSchema>;
