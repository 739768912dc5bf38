import { type Mutant, withProcess, withSpawn } from "./mutant.js";

/** Input that is lost, changed, or without an end. */
export const stdinMutants: readonly Mutant[] = [
  {
    id: "stdin-left-open",
    description: "a command without input waits for some instead of reading end of file",
    caughtBy: ["stdin.omitted"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => spawn(command, { ...options, stdin: true })),
  },
  {
    id: "stdin-never-closed",
    description: "the end of the input does not reach the program",
    caughtBy: ["stdin.empty"],
    mutate: (provider) => withProcess(provider, () => ({ closeStdin: async () => undefined })),
  },
  {
    id: "stdin-dropped",
    description: "input is accepted and forgotten",
    caughtBy: ["stdin.text", "process.stdin.option"],
    mutate: (provider) => withProcess(provider, () => ({ write: async () => undefined })),
  },
  {
    id: "stdin-64-kib",
    description: "input is cut after 64 KiB",
    caughtBy: ["stdin.large"],
    mutate: (provider) =>
      withProcess(provider, (process) => {
        let left = 65_536;
        return {
          async write(data) {
            const kept = data.subarray(0, left);
            left -= kept.length;
            if (kept.length > 0) await process.write(kept);
          },
        };
      }),
  },
  {
    id: "stdin-as-text",
    description: "input goes through a string, so bytes that are no UTF-8 are replaced",
    caughtBy: ["stdin.bytes", "process.stdin.bytes"],
    mutate: (provider) =>
      withProcess(provider, (process) => ({
        write: (data) => process.write(new TextEncoder().encode(new TextDecoder().decode(data))),
      })),
  },
  {
    id: "stdin-unbounded",
    description: "input is accepted at once and piles up in memory",
    caughtBy: ["stdin.held-up"],
    mutate: (provider) =>
      withProcess(provider, (process) => {
        let last: Promise<void> = Promise.resolve();
        return {
          async write(data) {
            last = last.then(() => process.write(data));
          },
          closeStdin: () => last.then(() => process.closeStdin()),
        };
      }),
  },
  {
    id: "stdin-broken-pipe",
    description: "writing to a program that has ended is an error",
    caughtBy: ["process.write.after-end"],
    mutate: (provider) =>
      withProcess(provider, (process) => {
        let over = false;
        process.exited.finally(() => {
          over = true;
        });
        return {
          async write(data) {
            if (over) throw new Error("write EPIPE");
            await process.write(data);
          },
        };
      }),
  },
];
