import { type Mutant, overlay, withSpawn } from "./mutant.js";

/** Programs that are started with other arguments, another environment, or somewhere else. */
export const startMutants: readonly Mutant[] = [
  {
    id: "argv-split",
    description: "arguments are joined into a line and split again at spaces",
    caughtBy: ["exec.argv.as-data"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => {
        const [start, rest] = [command.slice(0, 3), command.slice(3)];
        return spawn([...start, ...(rest.length > 0 ? rest.join(" ").split(/\s/) : [])], options);
      }),
  },
  {
    id: "argv-limit",
    description: "a long argument is cut",
    caughtBy: ["exec.argv.large"],
    mutate: (provider) =>
      withSpawn(
        provider,
        (spawn) => (command, options) =>
          spawn(
            command.map((part) => part.slice(0, 65_536)),
            options,
          ),
      ),
  },
  {
    id: "env-dropped",
    description: "the environment of a command is ignored",
    caughtBy: ["exec.env.as-data", "exec.env.whole-command", "exec.env.over-sandbox"],
    mutate: (provider) => withSpawn(provider, (spawn) => (command, options) => spawn(command, { ...options, env: {} })),
  },
  {
    id: "env-empty-dropped",
    description: "a variable with an empty value is not set",
    caughtBy: ["exec.env.empty"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => {
        const env = Object.fromEntries(Object.entries(options.env ?? {}).filter(([, value]) => value !== ""));
        return spawn(command, { ...options, env });
      }),
  },
  {
    id: "env-of-sandbox-dropped",
    description: "the environment of the sandbox is ignored",
    caughtBy: ["exec.env.over-sandbox"],
    mutate: (provider) => overlay(provider, { create: ({ env: _, ...options }) => provider.create(options) }),
  },
  {
    id: "env-leaks",
    description: "the environment of one command stays for the next",
    caughtBy: ["exec.env.apart"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => {
        let kept: Readonly<Record<string, string>> = {};
        return (command, options) => {
          kept = { ...kept, ...options.env };
          return spawn(command, { ...options, env: kept });
        };
      }),
  },
  {
    id: "env-of-host",
    description: "programs inherit the environment of the caller",
    caughtBy: ["exec.env.not-the-hosts"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => {
        const host = Object.entries(process.env).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        );
        return spawn(command, { ...options, env: { ...Object.fromEntries(host), ...options.env } });
      }),
  },
  {
    id: "env-on-command-line",
    description: "the environment is handed over as arguments of `env`",
    caughtBy: ["exec.env.off-the-command-line"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => (command, options) => {
        const assignments = Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`);
        // A shell stays in between, with all of it in its command line.
        return spawn(["sh", "-c", '"$@"; exit "$?"', "sh", "env", ...assignments, ...command], { ...options, env: {} });
      }),
  },
  {
    id: "cwd-ignored",
    description: "every command starts in the working directory of the sandbox",
    caughtBy: ["exec.cwd.relative-and-absolute", "exec.cwd.as-data"],
    mutate: (provider) =>
      withSpawn(
        provider,
        (spawn) =>
          (command, { cwd: _, ...options }) =>
            spawn(command, options),
      ),
  },
  {
    id: "cwd-fallback",
    description: "a directory that is not there is replaced by the working directory",
    caughtBy: ["exec.cwd.missing", "exec.cwd.file"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => async (command, options) => {
        const { cwd: _, ...without } = options;
        return spawn(command, options).catch(() => spawn(command, without));
      }),
  },
  {
    id: "cwd-pasted",
    description: "the directory is pasted into a command line",
    caughtBy: ["exec.cwd.as-data"],
    mutate: (provider) =>
      withSpawn(
        provider,
        (spawn) =>
          (command, { cwd = ".", ...options }) =>
            spawn(["sh", "-c", `cd ${cwd} && exec "$@"`, "sh", ...command], options),
      ),
  },
];
