import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { refusal } from "../errors.js";
import { type EngineAddress, parseAddress } from "./address.js";
import { parseSettings, readIfThere } from "./read-settings.js";

/** The context that `docker context use` has chosen; undefined: none. */
export async function currentContext(config: string): Promise<string | undefined> {
  const path = join(config, "config.json");
  const text = await readIfThere(path);
  return text === undefined ? undefined : parseSettings<{ currentContext?: string }>(path, text).currentContext;
}

interface ContextFile {
  readonly Endpoints?: { readonly docker?: { readonly Host?: string } };
}

/**
 * Where the engine of a context listens. Its certificate is always checked, whatever the context says.
 * @param config Docker's folder of settings.
 * @throws SandboxError `INVALID` for a context that is none
 */
export async function contextAddress(config: string, context: string): Promise<EngineAddress> {
  const hash = createHash("sha256").update(context).digest("hex");
  const path = join(config, "contexts/meta", hash, "meta.json");
  const text = await readIfThere(path);
  if (text === undefined) {
    const next = 'choose one of "docker context ls"';
    throw refusal("INVALID", `the Docker context "${context}" does not exist: ${next}`, "connect");
  }
  const host = parseSettings<ContextFile>(path, text).Endpoints?.docker?.Host;
  if (!host) {
    throw refusal("INVALID", `the Docker context "${context}" names no engine: docker context update it`, "connect");
  }
  const directory = join(config, "contexts/tls", hash, "docker");
  const hasTls = await access(directory).then(
    () => true,
    () => false,
  );
  return parseAddress(`context "${context}"`, host, hasTls ? { directory, strict: false } : undefined);
}
