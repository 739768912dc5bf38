import type { Feature, Provider, SandboxError, Support } from "@sandkit/core";
import { type Mutant, overlay, withSession } from "./mutant.js";

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
