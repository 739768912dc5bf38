import type { Config } from "./config.js";
import { ConfigError } from "./load-config.js";

/** The name of a server among others that share its sandboxes: the same after a restart. */
export function replicaName(host: string, place: string | number): string {
  const clean = host.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `${clean.replace(/^-/, "").slice(0, 40)}-${place}`;
}

/** @throws ConfigError where sandboxes would outlive the only server that knows their ids */
export function checkShareable({ detached }: Config, hasSecret: boolean): void {
  if (!detached || hasSecret) return;
  throw new ConfigError(
    "detached needs a secret that other servers, and this one after a restart, have too: set SANDKIT_SECRET, or secret in the config, to a long random word",
  );
}
