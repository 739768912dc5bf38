import { type Mutant, withKernel, withOutput } from "./mutant.js";

/** Output that is lost, late, changed or in the wrong place. */
export const outputMutants: readonly Mutant[] = [
  {
    id: "output-one-stream",
    description: "stderr arrives in stdout",
    caughtBy: ["kernel.python.streams"],
    mutate: (provider) => withOutput(provider, (onOutput) => (_, bytes) => onOutput("stdout", bytes)),
  },
  {
    id: "output-at-the-end",
    description: "output is shown only when its cell has ended",
    caughtBy: ["kernel.python.streaming"],
    mutate: (provider) =>
      withKernel(provider, (kernel) => ({
        async execute(code, { onOutput }) {
          const held: Parameters<typeof onOutput>[] = [];
          const cell = await kernel.execute(code, { onOutput: (...piece) => void held.push(piece) });
          for (const piece of held) await onOutput(...piece);
          return cell;
        },
      })),
  },
  {
    id: "output-unbounded",
    description: "output is taken as fast as it comes and piles up in memory",
    caughtBy: ["kernel.python.back-pressure"],
    mutate: (provider) =>
      withKernel(provider, (kernel) => ({
        async execute(code, { onOutput }) {
          let delivery = Promise.resolve();
          const cell = await kernel.execute(code, {
            onOutput(stream, bytes) {
              delivery = delivery.then(() => onOutput(stream, bytes));
            },
          });
          await delivery;
          return cell;
        },
      })),
  },
  {
    id: "output-cut-characters",
    description: "output is decoded in pieces of 4 KiB, each for itself",
    caughtBy: ["kernel.python.multibyte"],
    mutate: (provider) =>
      withOutput(provider, (onOutput) => async (stream, bytes) => {
        for (let start = 0; start < bytes.length; start += 4_096) {
          const text = new TextDecoder().decode(bytes.subarray(start, start + 4_096));
          await onOutput(stream, new TextEncoder().encode(text));
        }
      }),
  },
  {
    id: "output-of-the-next-cell",
    description: "the last piece of a cell's output is shown by the next one",
    caughtBy: ["kernel.queue.own-output"],
    mutate: (provider) =>
      withKernel(provider, (kernel) => {
        let earlier: Uint8Array | undefined;
        return {
          execute: (code, { onOutput }) =>
            kernel.execute(code, {
              async onOutput(stream, bytes) {
                const due = earlier;
                earlier = bytes;
                if (due) await onOutput(stream, due);
              },
            }),
        };
      }),
  },
];
