import { type ExecResult, type Sandbox, SandboxError } from "@sandkit/core";

/** What each sandbox was given, as it was asked for. */
const installed = new WeakMap<Sandbox, Set<string>>();

const pip = ["python3", "-m", "pip", "install", "--"] as const;
const env = {
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
  PIP_PROGRESS_BAR: "off",
  PIP_RETRIES: "1",
};

export interface InstallMissingOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** Packages that a sandbox has from its creation need no installation. */
export function markInstalled(sandbox: Sandbox, packages: readonly string[]): void {
  const known = installed.get(sandbox) ?? new Set();
  for (const name of packages) known.add(name);
  installed.set(sandbox, known);
}

/**
 * Installs packages of Python that a living sandbox was not given before.
 * @throws SandboxError `INVALID` or `UNAVAILABLE` with what pip says and what to do instead
 */
export async function installMissing(
  sandbox: Sandbox,
  packages: readonly string[],
  { timeoutMs, signal, onProgress }: InstallMissingOptions,
): Promise<void> {
  const missing = packages.filter((name) => !installed.get(sandbox)?.has(name));
  if (missing.length === 0) return;
  onProgress?.(`installing ${missing.join(", ")}`);
  const result = await sandbox.exec([...pip, ...missing], { env, timeoutMs, signal, mergeStderr: true });
  signal.throwIfAborted();
  if (!result.ok) throw failure(missing, result);
  markInstalled(sandbox, missing);
}

function failure(packages: readonly string[], result: ExecResult): SandboxError {
  const all = result.stdout.text;
  const lines = all.trim().split("\n");
  const errors = lines.filter((line) => /^ERROR: |No module named pip/.test(line));
  const said = (errors.length > 0 ? errors : lines.slice(-2)).join("; ").slice(-800) || "it said nothing";
  const names = packages.join(", ");
  const unreached = /Retrying \(|NewConnectionError|No module named pip/.test(all);
  const closed = unreached || all.includes("without network");
  const next = closed
    ? "correct its name or version; what only an index has cannot be fetched by a sandbox that lives already: name it in create_sandbox (packages) and pass that sandbox_id"
    : "correct its name or version, or do without it";
  return new SandboxError(
    unreached ? "UNAVAILABLE" : "INVALID",
    `packages ${names} could not be installed, so nothing ran (pip: ${said}): ${next}`,
    { operation: "packages", retryable: false },
  );
}
