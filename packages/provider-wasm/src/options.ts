import * as z from "zod";
import { packagesSchema } from "./packages/options.js";

/** Options of the provider itself, for config files and programs alike. */
export const optionsSchema = z
  .strictObject({
    memoryMiB: z.int().min(64).max(2048).optional().meta({ description: "Memory of each interpreter; default 512" }),
    diskMiB: z.int().min(1).max(8192).optional().meta({ description: "Files of each sandbox together; default 256" }),
    maxSandboxes: z.int().min(1).max(10_000).optional().meta({
      description: "Sandboxes that live at one time; default 64",
    }),
    maxConcurrentExec: z.int().min(1).max(64).optional().meta({
      description: "Programs that run at one time in each sandbox, the others wait; default 4",
    }),
    maxKernels: z.int().min(1).max(64).optional().meta({
      description: "Kernels that live at one time in each sandbox; default 16",
    }),
    maxCpuMs: z.int().min(1000).optional().meta({
      description:
        "Processor time of each sandbox and its start, in milliseconds; what runs after that is ended; default without end",
    }),
    warmWorkers: z.int().min(0).max(8).optional().meta({
      description:
        "Interpreters kept ready in each sandbox, about 50 MiB each; of JavaScript, once used, 12 MiB each; default 1",
    }),
    pool: z
      .strictObject({
        size: z.int().min(1).max(64).meta({ description: "Sandboxes kept ready, about 100 MiB each" }),
      })
      .optional()
      .meta({ description: "Sandboxes started ahead of time, each handed out once; default none" }),
    hardening: z.enum(["auto", "portable", "required"]).optional().meta({
      description:
        "Isolation by the operating system besides: the strongest that works (auto, the default), none (portable), or fail without (required)",
    }),
    packages: packagesSchema.optional(),
    codeCache: z
      .union([z.literal(false), z.string().min(1)])
      .optional()
      .meta({
        description:
          "Directory for compiled code, or false; default: in the user's cache, on Linux ~/.cache/sandkit/wasm",
      }),
  })
  .meta({ description: "Python, JavaScript and a shell in WebAssembly, in one locked child process per sandbox" });

/** Defaults for the sandboxes of a provider; `resources` of a create go before them. */
export type WasmOptions = z.input<typeof optionsSchema>;
