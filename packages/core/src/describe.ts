import { type Capabilities, type Feature, features } from "./capabilities.js";
import type { SandboxInfo } from "./provider.js";

/** A sandbox in words that a model can act on. */
export function describeSandbox(info: SandboxInfo, workdir: string, capabilities: Capabilities): string {
  const has = (feature: Feature) => capabilities.features[feature] !== false;
  const lines = [
    `Sandbox of provider "${info.ref.provider}" (isolation: ${capabilities.isolation}). Working directory: ${workdir}.`,
    has("exec")
      ? `Command strings run in ${info.shells[0] ?? "sh"}.`
      : "No shell: commands are a program with its arguments.",
  ];
  if (info.interpreters.length > 0) lines.push(`Programs: ${info.interpreters.join(", ")}.`);
  const languages = (["python", "javascript", "bash"] as const).filter((language) => has(`kernel.${language}`));
  if (languages.length > 0) lines.push(`Stateful cells: ${languages.join(", ")}.`);
  lines.push(networkLine(info, has));
  const mounts = info.mounts?.map(
    ({ path, readOnly }) => `${path} (${readOnly ? "read-only" : "what is written stays"})`,
  );
  if (mounts && mounts.length > 0) lines.push(`Folders of its machine: ${mounts.join(", ")}.`);
  if (info.expiresAt) lines.push(`It ends at ${info.expiresAt.toISOString()}.`);
  const missing = (["exec.stdin", "files", "ports", "packages", "snapshot"] as const).filter((name) => !has(name));
  if (missing.length > 0) lines.push(`Not available: ${missing.map((name) => features[name]).join("; ")}.`);
  return lines.join("\n");
}

function networkLine({ network }: SandboxInfo, has: (feature: Feature) => boolean): string {
  if (network === "none") return "No network.";
  if (network === "full") return "Network: every public host, by the proxy that HTTP_PROXY and HTTPS_PROXY name.";
  if (network !== undefined) {
    return `Network: ${network.allow.join(", ")} and nothing else, by the proxy that HTTP_PROXY and HTTPS_PROXY name.`;
  }
  if (!has("network.full") && !has("network.allowlist")) return "No network.";
  return has("network.none") ? "Network: none unless it was asked for." : "Network: not restricted.";
}
