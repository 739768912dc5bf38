import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Provider, SandboxError } from "@sandkit/core";
import type { z } from "zod";
import type { Config } from "./config.js";
import { MissingProviderError } from "./missing-provider.js";

/** Providers that need no package name. */
export const providerNames: readonly string[] = ["wasm", "docker", "e2b", "daytona"];

/** What a provider package exports beside its own factory. */
interface ProviderModule {
  readonly createProvider: (options: unknown) => Provider | Promise<Provider>;
  readonly optionsSchema: z.ZodType;
}

/**
 * The provider that the config names, imported at first use. A failed attempt is not kept: what was missing may be
 * there at the next call.
 */
export class ProviderSource {
  readonly #config: Config;
  readonly #configPath: string | undefined;
  #loading: Promise<Provider> | undefined;

  constructor(config: Config, configPath?: string) {
    this.#config = config;
    this.#configPath = configPath;
  }

  /** @throws SandboxError `UNAVAILABLE` for a missing package, `INVALID` for a wrong one or wrong options */
  get(): Promise<Provider> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<Provider> {
    const { provider: name, options } = this.#config;
    const packageName = packageOf(name);
    const module = await this.#import(packageName);
    if (typeof module.createProvider !== "function" || module.optionsSchema === undefined) {
      throw new SandboxError(
        "INVALID",
        `package "${packageName}" is no Sandkit provider (it exports no createProvider and optionsSchema): name another in "provider" of the config`,
        { provider: name },
      );
    }
    const parsed = await module.optionsSchema.safeParseAsync(options);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) => `${["options", ...path].join(".")}: ${message}`);
      throw new SandboxError("INVALID", `config for provider "${name}": ${issues.join("; ")}`, {
        provider: name,
        cause: parsed.error,
      });
    }
    return await module.createProvider(parsed.data);
  }

  async #import(packageName: string): Promise<Partial<ProviderModule>> {
    try {
      return await import(packageName);
    } catch (error) {
      if (!isMissing(error, packageName)) throw this.#broken(packageName, error);
      const beside = this.#resolveBesideConfig(packageName);
      if (beside === undefined) throw new MissingProviderError(this.#config.provider, packageName, error);
      return await import(pathToFileURL(beside).href);
    }
  }

  /** A package installed in the folder of the config file; the working directory is never asked. */
  #resolveBesideConfig(packageName: string): string | undefined {
    if (this.#configPath === undefined) return undefined;
    try {
      return createRequire(this.#configPath).resolve(packageName);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
      throw this.#broken(packageName, error);
    }
  }

  #broken(packageName: string, cause: unknown): SandboxError {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new SandboxError("UNAVAILABLE", `package "${packageName}" cannot be loaded: ${detail}: reinstall it`, {
      provider: this.#config.provider,
      retryable: false,
      cause,
    });
  }
}

function packageOf(name: string): string {
  if (providerNames.includes(name)) return `@sandkit/provider-${name}`;
  if (/^(@[a-z0-9-][a-z0-9._-]*\/)?[a-z0-9-][a-z0-9._-]*$/.test(name)) return name;
  throw new SandboxError(
    "INVALID",
    `provider ${JSON.stringify(name)} is neither ${providerNames.join(", ")} nor the name of a package: correct "provider" in the config`,
  );
}

// Node tells the missing package only in the message.
function isMissing(error: unknown, packageName: string): boolean {
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${packageName}'`)
  );
}
