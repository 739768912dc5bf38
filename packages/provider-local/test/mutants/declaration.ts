import type { Feature, Provider, SandboxError, Support } from "@sandkit/core";
import { type Mutant, overlay, withSession, withSpawn } from "./mutant.js";

/** Declares more, or something else, than there is; in the provider, in its sandboxes, or in both. */
function declaring(
  provider: Provider,
  features: Partial<Record<Feature, Support>>,
  where: "provider" | "session" | "both",
): Provider {
  const { capabilities } = provider;
  const changed = { ...capabilities, features: { ...capabilities.features, ...features } };
  const sessions = where === "provider" ? provider : withSession(provider, () => ({ capabilities: changed }));
  return where === "session" ? sessions : overlay(sessions, { capabilities: changed });
}

/** Capabilities that are not true, and options that are silently ignored. */
export const declarationMutants: readonly Mutant[] = [
  {
    id: "declared-in-session-alone",
    description: "a sandbox has a feature that its provider does not declare",
    caughtBy: ["capabilities.upper-bound"],
    mutate: (provider) => declaring(provider, { ports: "native" }, "session"),
  },
  {
    id: "declared-as-true",
    description: "a feature is declared as `true` instead of how it is supported",
    caughtBy: ["capabilities.complete"],
    mutate: (provider) => declaring(provider, JSON.parse('{ "files": true }'), "both"),
  },
  {
    id: "declared-incompletely",
    description: "features that are not there are left out of the declaration",
    caughtBy: ["capabilities.complete"],
    mutate: (provider) => {
      const { capabilities } = provider;
      const features = Object.fromEntries(Object.entries(capabilities.features).filter(([, support]) => support));
      return overlay(provider, {
        capabilities: { ...capabilities, features: features as typeof capabilities.features },
      });
    },
  },
  {
    id: "user-ignored",
    description: "another user is declared, and every command runs under the same one",
    caughtBy: ["exec.user"],
    mutate: (provider) =>
      withSpawn(
        declaring(provider, { "exec.user": "native" }, "both"),
        (spawn) =>
          (command, { user: _, ...options }) =>
            spawn(command, options),
      ),
  },
  {
    id: "terminal-ignored",
    description: "a terminal is declared, and a pipe is given",
    caughtBy: ["exec.pty"],
    mutate: (provider) =>
      withSpawn(
        declaring(provider, { "exec.pty": "native" }, "both"),
        (spawn) =>
          async (command, { pty: _, ...options }) =>
            overlay(await spawn(command, options), { resize: async () => undefined }),
      ),
  },
  {
    id: "network-open",
    description: "no network is declared, and every program reaches this machine",
    caughtBy: ["network.none"],
    mutate: (provider) => declaring(provider, { "network.none": "native" }, "both"),
  },
  {
    id: "disk-unlimited",
    description: "a cap on the disk is declared and not kept",
    caughtBy: ["resources.disk"],
    mutate: (provider) => declaring(provider, { "resources.disk": "native" }, "both"),
  },
  {
    id: "pause-does-nothing",
    description: "pause is declared, and the sandbox runs on",
    caughtBy: ["lifecycle.pause"],
    mutate: (provider) =>
      withSession(declaring(provider, { pause: "native" }, "both"), () => ({
        pause: async () => undefined,
        resume: async () => undefined,
      })),
  },
  {
    id: "snapshot-empty",
    description: "a sandbox made from a snapshot is an empty one",
    caughtBy: ["lifecycle.snapshot"],
    mutate: (provider) =>
      withSession(declaring(provider, { snapshot: "native" }, "both"), () => ({
        snapshot: async () => ({ id: "snapshot" }),
      })),
  },
  {
    id: "fork-of-nothing",
    description: "a fork is the sandbox itself",
    caughtBy: ["lifecycle.fork"],
    mutate: (provider) =>
      withSession(declaring(provider, { fork: "native" }, "both"), (session) => ({
        fork: async (count) => Array.from({ length: count }, () => session),
      })),
  },
  {
    id: "template-ignored",
    description: "an unknown template gives the default one",
    caughtBy: ["errors.create.template"],
    mutate: (provider) =>
      overlay(provider, {
        validate: () => undefined,
        create: ({ template: _, ...options }) => provider.create(options),
      }),
  },
  {
    id: "shell-missing",
    description: "command strings are declared where there is no shell",
    caughtBy: ["capabilities.shell"],
    mutate: (provider) =>
      withSession(provider, (session) => ({
        info: async () => ({ ...(await session.info()), shells: [] }),
      })),
  },
  {
    id: "errors-plain",
    description: "failures are plain errors, to be told apart by their text",
    caughtBy: ["files.missing", "errors.shape"],
    mutate: (provider) =>
      withSession(provider, ({ files }) => ({
        files: overlay(files, {
          read: (path, options) =>
            files.read(path, options).catch((error: SandboxError) => {
              throw new Error(error.message);
            }),
        }),
      })),
  },
  {
    id: "check-fails",
    description: "check says nothing of what it found",
    caughtBy: ["lifecycle.check"],
    mutate: (provider) => overlay(provider, { check: async () => ({ ok: true, detail: "" }) }),
  },
];
