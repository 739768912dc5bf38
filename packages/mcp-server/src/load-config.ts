import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { z } from "zod";
import { type Config, configSchema } from "./config.js";

/** Where the config comes from. */
export interface LoadConfigOptions {
  /** A file that must exist (`--config`). */
  readonly configPath?: string | undefined;
  /** Overrides the file and the environment (`--provider`). */
  readonly provider?: string | undefined;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** A config, and where a provider package may be installed beside it. */
export interface LoadedConfig {
  readonly config: Config;
  /** The file it was read from, if there was one. */
  readonly path?: string | undefined;
}

/** A config that cannot be used: the message names the file, the key and what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the config from `configPath`, `SANDKIT_CONFIG` or the user's config folder, the first that is named.
 * Never from the working directory: a cloned repository must not decide what gets started.
 * @throws ConfigError
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const env = options.env ?? process.env;
  const named = options.configPath ?? (env.SANDKIT_CONFIG || undefined);
  const path = named ?? userConfigPath(env);
  const text = await readConfigFile(path, named !== undefined);
  const config = parse(text === undefined ? {} : parseJson(text, path), path);
  return {
    config: withProvider(config, options.provider ?? env.SANDKIT_PROVIDER),
    path: text === undefined ? undefined : path,
  };
}

/** The config file of this user: `XDG_CONFIG_HOME` or `~/.config`, on Windows `%APPDATA%`. */
export function userConfigPath(env: NodeJS.ProcessEnv): string {
  const windows = process.platform === "win32" ? env.APPDATA : undefined;
  const folder = windows || env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config");
  return join(folder, "sandkit", "config.json");
}

async function readConfigFile(path: string, required: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" && !required) return undefined;
    if (code === "ENOENT")
      throw new ConfigError(`config ${path}: no such file; create it or name another with --config`);
    throw new ConfigError(`config ${path}: cannot be read (${code}); make it a file that this user may read`, {
      cause: error,
    });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`config ${path}: not JSON (${detail}); fix the syntax, comments are not allowed`, {
      cause: error,
    });
  }
}

function parse(value: unknown, path: string): Config {
  const result = configSchema.safeParse(value);
  if (!result.success) {
    throw new ConfigError(result.error.issues.map((issue) => `config ${path}: ${describeIssue(issue)}`).join("\n"));
  }
  const { timeoutSeconds, maxTimeoutSeconds } = result.data;
  if (timeoutSeconds > maxTimeoutSeconds) {
    throw new ConfigError(
      `config ${path}: timeoutSeconds: ${timeoutSeconds} is above maxTimeoutSeconds (${maxTimeoutSeconds}); raise the maximum or lower the default`,
    );
  }
  return result.data;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const place = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.map((key) => JSON.stringify(place === "" ? key : `${place}.${key}`)).join(", ");
    const known =
      place === "" ? `known keys: ${Object.keys(configSchema.shape).slice(1).join(", ")}` : "see the schema";
    return `unknown key ${keys}; remove it (${known})`;
  }
  return `${place === "" ? "the whole file" : place}: ${issue.message}`;
}

/** Options are those of the provider that they stand beside; another one has its defaults. */
function withProvider(config: Config, provider: string | undefined): Config {
  if (provider === undefined || provider === "" || provider === config.provider) return config;
  return { ...config, provider, options: {} };
}
