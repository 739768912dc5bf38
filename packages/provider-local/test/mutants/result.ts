import { constants } from "node:os";
import { SandboxError } from "@sandkit/core";
import { type Mutant, withProcess, withSpawn } from "./mutant.js";

/** Endings that are told otherwise than they were. */
export const resultMutants: readonly Mutant[] = [
  {
    id: "result-all-127",
    description: "every failure has the exit code 127",
    caughtBy: ["exec.exit-code", "exec.exit-code.with-listener", "process.wait"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({
        exited: exited.then((exit) => (exit.exitCode ? { ...exit, exitCode: 127 } : exit)),
      })),
  },
  {
    id: "result-always-0",
    description: "every command that ended by itself has the exit code 0",
    caughtBy: ["exec.exit-code", "exec.result.or-throw", "exec.missing-program"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({
        exited: exited.then((exit) => (exit.exitCode === null ? exit : { ...exit, exitCode: 0 })),
      })),
  },
  {
    id: "result-signal-is-0",
    description: "a program ended by a signal has the exit code 0",
    caughtBy: ["exec.signal-death", "exec.signal-death.no-timeout"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({
        exited: exited.then((exit) => (exit.exitCode === null ? { exitCode: 0 } : exit)),
      })),
  },
  {
    id: "result-signal-as-code",
    description: "a program ended by a signal has the exit code 128 and the number of the signal",
    caughtBy: ["exec.signal-death"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({
        exited: exited.then((exit) => {
          const number = Object.entries(constants.signals).find(([name]) => name === exit.signal)?.[1];
          return number === undefined ? exit : { exitCode: 128 + number };
        }),
      })),
  },
  {
    id: "result-signal-nameless",
    description: "the name of the signal is lost",
    caughtBy: ["exec.signal-death"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({ exited: exited.then(({ signal: _, ...exit }) => exit) })),
  },
  {
    id: "result-code-is-signal",
    description: "exit codes above 128 are taken for signals",
    caughtBy: ["exec.exit-code.lookalikes"],
    mutate: (provider) =>
      withProcess(provider, ({ exited }) => ({
        exited: exited.then((exit) => {
          const signal = Object.entries(constants.signals).find(([, value]) => value + 128 === exit.exitCode)?.[0];
          return signal ? { exitCode: null, signal } : exit;
        }),
      })),
  },
  {
    id: "result-missing-throws",
    description: "a program that does not exist is an error instead of a result",
    caughtBy: ["exec.missing-program"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => async (command, options) => {
        const process = await spawn(command, options);
        const exit = await Promise.race([
          process.exited,
          new Promise<null>((resolve) => setTimeout(resolve, 100, null)),
        ]);
        if (exit?.exitCode === 127) throw new SandboxError("FILE_NOT_FOUND", `spawn ${command[0]} ENOENT`);
        return process;
      }),
  },
];
