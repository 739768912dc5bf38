import { z } from "@sandkit/core";
import { packagesSchema } from "./packages/options.js";

/** Options of the provider itself, for config files and programs alike. Made when it is first used. */
export const optionsSchema = z.lazy(() => {
  const count = z.int().check(z.gte(1));
  const few = count.check(z.lte(64));
  const pool = z.strictObject({ size: few.check(z.describe("Sandboxes kept ready, about 100 MiB each")) });
  const directory = z.string().check(z.minLength(1));
  return z
    .strictObject({
      memoryMiB: z.optional(
        z.int().check(z.gte(64), z.lte(2048), z.describe("Memory of each interpreter; default 512")),
      ),
      diskMiB: z.optional(count.check(z.lte(8192), z.describe("Files of each sandbox together; default 256"))),
      maxSandboxes: z.optional(count.check(z.lte(10_000), z.describe("Sandboxes that live at one time; default 64"))),
      maxConcurrentExec: z.optional(
        few.check(z.describe("Programs that run at one time in each sandbox, the others wait; default 4")),
      ),
      maxKernels: z.optional(few.check(z.describe("Kernels that live at one time in each sandbox; default 16"))),
      maxCpuMs: z.optional(
        z
          .int()
          .check(
            z.gte(1000),
            z.describe(
              "Processor time of each sandbox and its start, in milliseconds; what runs after that is ended; default without end",
            ),
          ),
      ),
      warmWorkers: z.optional(
        z
          .int()
          .check(
            z.gte(0),
            z.lte(8),
            z.describe(
              "Interpreters kept ready in each sandbox, about 50 MiB each; of JavaScript, once used, 12 MiB each; default 1",
            ),
          ),
      ),
      pool: z.optional(pool.check(z.describe("Sandboxes started ahead of time, each handed out once; default none"))),
      hardening: z.optional(
        z
          .enum(["auto", "portable", "required"])
          .check(
            z.describe(
              "Isolation by the operating system besides: the strongest that works (auto, the default), none (portable), or fail without (required)",
            ),
          ),
      ),
      packages: z.optional(packagesSchema),
      codeCache: z.optional(
        z
          .union([z.literal(false), directory])
          .check(
            z.describe(
              "Directory for compiled code, or false; default: in the user's cache, on Linux ~/.cache/sandkit/wasm",
            ),
          ),
      ),
    })
    .check(z.describe("Python, JavaScript and a shell in WebAssembly, in one locked child process per sandbox"));
});

/** Defaults for the sandboxes of a provider; `resources` of a create go before them. */
export type WasmOptions = z.input<typeof optionsSchema>;
