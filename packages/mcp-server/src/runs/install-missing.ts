import { type ExecResult, type Sandbox, SandboxError } from "@sandkit/core";

/** What each sandbox was given, as it was asked for. */
const installed = new WeakMap<Sandbox, Set<string>>();
/** The latest installation of each, which the next one waits for. */
const turns = new WeakMap<Sandbox, Promise<void>>();

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
 * Installs packages of Python that a living sandbox was not given before, one installation after another.
 * @throws SandboxError `INVALID` or `UNAVAILABLE` with what pip says and what to do instead
 */
export async function installMissing(
  sandbox: Sandbox,
  packages: readonly string[],
  options: InstallMissingOptions,
): Promise<void> {
  if (packages.length === 0) return;
  const turn = (turns.get(sandbox) ?? Promise.resolve()).then(() => install(sandbox, packages, options));
  turns.set(
    sandbox,
    // Each caller hears of its own failure.
    turn.catch(() => undefined),
  );
  await turn;
}

async function install(sandbox: Sandbox, packages: readonly string[], options: InstallMissingOptions): Promise<void> {
  const { timeoutMs, signal, onProgress } = options;
  signal.throwIfAborted();
  const missing = packages.filter((name) => !installed.get(sandbox)?.has(name));
  if (missing.length === 0) return;
  onProgress?.(`installing ${missing.join(", ")}`);
  const result = await sandbox.exec([...pip, ...missing], { env, timeoutMs, signal, mergeStderr: true });
  signal.throwIfAborted();
  if (!result.ok) throw failure(missing, result);
  markInstalled(sandbox, missing);
}

function failure(packages: readonly string[], { stdout, exitCode, reason }: ExecResult): SandboxError {
  const said = reason === "exited" ? reasonIn(stdout.text) : reason;
  const message = `packages ${packages.join(", ")} could not be installed, so nothing ran (pip: ${said}): `;
  const details = { operation: "packages", retryable: false };
  if (exitCode === 127 || stdout.text.includes("No module named pip")) {
    return new SandboxError(
      "UNAVAILABLE",
      `${message}this sandbox has no Python with pip: use another template`,
      details,
    );
  }
  if (reason !== "exited" || /Retrying \(|NewConnectionError|without[- ]network/.test(stdout.text)) {
    const next =
      "correct its name or version; what only an index has cannot be fetched by a sandbox that lives already: name it in create_sandbox (packages) and pass that sandbox_id";
    return new SandboxError("INVALID", message + next, details);
  }
  return new SandboxError("INVALID", `${message}correct its name or version, or do without it`, details);
}

/** What pip calls an error, else its last words. */
function reasonIn(output: string): string {
  const lines = output.trim().split("\n");
  const errors = lines.filter((line) => /^ERROR: |No module named pip/.test(line));
  return (errors.length > 0 ? errors : lines.slice(-2)).join("; ").slice(-800) || "it said nothing";
}
