import { collect, type Mutant, mapPieces, overlay, withOutput, withProcess, withSession, withSpawn } from "./mutant.js";

/** Output that is lost, changed, mixed up, late, or without bounds. */
export const outputMutants: readonly Mutant[] = [
  {
    id: "output-cut-characters",
    description: "each piece is decoded for itself: a character across two pieces breaks",
    caughtBy: ["output.multibyte.byte-by-byte"],
    mutate: (provider) =>
      withOutput(provider, (output) =>
        mapPieces(output, (piece) =>
          new TextEncoder().encode(new TextDecoder("utf-8", { ignoreBOM: true }).decode(piece)),
        ),
      ),
  },
  {
    id: "output-as-text",
    description: "output goes through a string, so bytes that are no UTF-8 are replaced",
    caughtBy: ["output.binary"],
    mutate: (provider) =>
      withOutput(provider, (output) =>
        output.pipeThrough(new TextDecoderStream("utf-8", { ignoreBOM: true })).pipeThrough(new TextEncoderStream()),
      ),
  },
  {
    id: "output-line-ends",
    description: "line ends are unified",
    caughtBy: ["output.line-ends"],
    mutate: (provider) =>
      withOutput(provider, (output) => mapPieces(output, (piece) => piece.filter((byte) => byte !== 0x0d))),
  },
  {
    id: "output-last-piece",
    description: "the last piece is lost when more than one came",
    caughtBy: ["output.stream.complete", "output.limit.head-and-tail", "concurrency.exec.floods"],
    mutate: (provider) =>
      withOutput(provider, (output) => {
        let count = 0;
        let held: Uint8Array | null = null;
        return mapPieces(output, (piece) => {
          count += 1;
          if (count === 1) return piece;
          const earlier = held;
          held = piece;
          return earlier;
        });
      }),
  },
  {
    id: "output-64-kib",
    description: "output ends after 64 KiB",
    caughtBy: ["output.limit.default", "stdin.large"],
    mutate: (provider) =>
      withOutput(provider, (output) => {
        let left = 65_536;
        return mapPieces(output, (piece) => {
          const kept = piece.subarray(0, left);
          left -= kept.length;
          return kept;
        });
      }),
  },
  {
    id: "output-at-the-end",
    description: "output is shown only when the command has ended",
    caughtBy: ["output.stream.as-written", "process.dialogue"],
    mutate: (provider) =>
      withOutput(
        provider,
        (output) =>
          new ReadableStream({
            async start(controller) {
              controller.enqueue(await collect(output));
              controller.close();
            },
          }),
      ),
  },
  {
    id: "output-unbounded",
    description: "output is read as fast as it comes and piles up in memory",
    caughtBy: ["output.back-pressure.listener"],
    mutate: (provider) =>
      withOutput(
        provider,
        (output) =>
          new ReadableStream({
            start(controller) {
              const pump = async () => {
                for await (const piece of output) controller.enqueue(piece);
                controller.close();
              };
              pump().catch((error) => controller.error(error));
            },
          }),
      ),
  },
  {
    id: "output-merged",
    description: "stderr arrives in stdout though nobody asked for it",
    caughtBy: ["exec.output.both-streams", "output.stream.tagged"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => spawn(command, { ...options, mergeStderr: true })),
  },
  {
    id: "output-not-merged",
    description: "mergeStderr is ignored",
    caughtBy: ["exec.output.merged"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => spawn(command, { ...options, mergeStderr: false })),
  },
  {
    id: "output-mixed-up",
    description: "commands that run at the same time get pieces of each other's output",
    caughtBy: ["concurrency.exec.50"],
    mutate: (provider) =>
      withSession(provider, (session) => {
        let running = 0;
        let held: Uint8Array | null = null;
        return {
          async spawn(command, options) {
            running += 1;
            const process = await session.spawn(command, options);
            process.gone.finally(() => {
              running -= 1;
            });
            const stdout = mapPieces(process.stdout, (piece) => {
              if (running < 2) return piece;
              const other = held;
              held = piece;
              return other;
            });
            return overlay(process, { stdout });
          },
        };
      }),
  },
  {
    id: "output-waits-for-children",
    description: "a command is not over while a background child holds its output open",
    caughtBy: ["exec.background-child"],
    mutate: (provider) => withProcess(provider, (process) => ({ exited: process.gone.then(() => process.exited) })),
  },
];
