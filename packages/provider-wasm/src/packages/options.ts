import * as z from "zod";
import { isSecureAddress } from "./web-address.js";

const webAddress = z.string().refine(isSecureAddress, "must be an address by https, or by http on this machine");

/** Where packages of Python come from, and when. */
export const packagesSchema = z
  .strictObject({
    indexUrl: z
      .union([z.literal(false), webAddress])
      .optional()
      .meta({
        description:
          "Index of packages (simple API, PEP 503 and 691), or false; default: the environment's PIP_INDEX_URL, else https://pypi.org/simple/",
      }),
    fileHosts: z.array(webAddress).optional().meta({
      description:
        "Hosts in your own network to which the index may lead, as addresses, with credentials where they need some; default none: files come from the index's host, or from the public internet",
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
      description:
        "How long a host may be silent, in milliseconds, before it is given up; one answer may take ten times as long; default 60000",
    }),
  })
  .meta({ description: "Packages of Python: where they come from" });

/** Where packages of Python come from, and when. */
export type PackagesOptions = z.input<typeof packagesSchema>;
