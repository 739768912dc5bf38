import type { ProviderCell } from "@sandkit/core";
import { type Mutant, withKernel } from "./mutant.js";

/** Interrupts and kills that do not do what they say. */
export const controlMutants: readonly Mutant[] = [
  {
    id: "interrupt-ignored",
    description: "an interrupt is taken and forgotten",
    caughtBy: ["kernel.interrupt"],
    mutate: (provider) => withKernel(provider, () => ({ async interrupt() {} })),
  },
  {
    id: "interrupt-kills",
    description: "an interrupt ends the interpreter",
    caughtBy: ["kernel.timeout"],
    mutate: (provider) => withKernel(provider, (kernel) => ({ interrupt: () => kernel.kill() })),
  },
  {
    id: "kill-believed",
    description: "a killed interpreter counts as dead at once, and its cell goes on",
    caughtBy: ["kernel.restart", "kernel.close"],
    mutate: (provider) =>
      withKernel(provider, (kernel) => {
        let tellDead = (_: ProviderCell) => {};
        const dead = new Promise<ProviderCell>((resolve) => {
          tellDead = resolve;
        });
        return {
          execute: (code, options) => Promise.race([kernel.execute(code, options), dead]),
          kill: async () => tellDead({ exitCode: null, outputs: [], died: "killed" }),
        };
      }),
  },
];
