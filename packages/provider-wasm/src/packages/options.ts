import { z } from "@sandkit/core";
import { isSecureAddress } from "./web-address.js";

/** Where packages of Python come from, and when. */
export const packagesSchema = z.lazy(() => {
  const webAddress = z
    .string()
    .check(z.refine(isSecureAddress, "must be an address by https, or by http on this machine"));
  const directory = z.string().check(z.minLength(1));
  return z
    .strictObject({
      indexUrl: z.optional(
        z
          .union([z.literal(false), webAddress])
          .check(
            z.describe(
              "Index of packages (simple API, PEP 503 and 691), or false; default: the environment's PIP_INDEX_URL, else https://pypi.org/simple/",
            ),
          ),
      ),
      fileHosts: z.optional(
        z
          .array(webAddress)
          .check(
            z.describe(
              "Hosts in your own network to which the index may lead, as addresses, with credentials where they need some; default none: files come from the index's host, or from the public internet",
            ),
          ),
      ),
      packageBaseUrl: z.optional(
        webAddress.check(z.describe("Where Pyodide's own packages lie; default: where its makers publish them")),
      ),
      wheelDir: z.optional(
        directory.check(z.describe("Directory of wheels on this machine, looked at before any network")),
      ),
      cacheDir: z.optional(
        z
          .union([z.literal(false), directory])
          .check(
            z.describe(
              "Directory for what was fetched, or false; default: in the user's cache, ~/.cache/sandkit/packages",
            ),
          ),
      ),
      autoInstall: z.optional(
        z
          .boolean()
          .check(z.describe("Installs what the code imports and the sandbox lacks, before it runs; default false")),
      ),
      timeoutMs: z.optional(
        z
          .int()
          .check(
            z.gte(1),
            z.lte(600_000),
            z.describe(
              "How long a host may be silent, in milliseconds, before it is given up; one answer may take ten times as long; default 60000",
            ),
          ),
      ),
    })
    .check(z.describe("Packages of Python: where they come from"));
});

/** Where packages of Python come from, and when. */
export type PackagesOptions = z.input<typeof packagesSchema>;
