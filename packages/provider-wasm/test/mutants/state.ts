import type { ProviderCell, ProviderKernel } from "@sandkit/core";
import { type Mutant, withKernel, withStart } from "./mutant.js";

/** State that is lost, shared, or wrongly said to be there. */
export const stateMutants: readonly Mutant[] = [
  {
    id: "state-per-cell",
    description: "every cell gets an interpreter of its own",
    caughtBy: ["kernel.python.state"],
    mutate: (provider) =>
      withStart(provider, (start) => async (options) => {
        let current = await start(options);
        return {
          id: current.id,
          async execute(code, cellOptions) {
            current = await start(options);
            try {
              return await current.execute(code, cellOptions);
            } finally {
              await current.kill();
            }
          },
          interrupt: () => current.interrupt(),
          kill: () => current.kill(),
        };
      }),
  },
  {
    id: "state-shared",
    description: "all kernels of a sandbox are one interpreter",
    caughtBy: ["kernel.apart"],
    mutate: (provider) =>
      withStart(provider, (start) => {
        let only: Promise<ProviderKernel> | undefined;
        return (options) => {
          only ??= start(options);
          return only;
        };
      }),
  },
  {
    id: "state-loss-hidden",
    description: "a dead interpreter is replaced in silence, as if nothing were lost",
    caughtBy: ["kernel.timeout.truthful", "kernel.dies"],
    mutate: (provider) =>
      withStart(provider, (start) => async (options) => {
        let current = await start(options);
        return {
          id: current.id,
          async execute(code, cellOptions): Promise<ProviderCell> {
            const { died, ...cell } = await current.execute(code, cellOptions);
            if (died) current = await start(options);
            return cell;
          },
          interrupt: () => current.interrupt(),
          kill: () => current.kill(),
        };
      }),
  },
  {
    id: "start-options-ignored",
    description: "the directory and the environment of a kernel are those of the sandbox",
    caughtBy: ["kernel.by-id"],
    mutate: (provider) =>
      withStart(
        provider,
        (start) =>
          ({ language }) =>
            start({ language }),
      ),
  },
  {
    id: "cells-twice",
    description: "a cell whose first answer is taken for lost is run again",
    caughtBy: ["kernel.queue"],
    mutate: (provider) =>
      withKernel(provider, (kernel) => ({
        async execute(code, options) {
          await kernel.execute(code, { onOutput() {} });
          return kernel.execute(code, options);
        },
      })),
  },
];
