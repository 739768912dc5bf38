import { unlessAborted } from "../deadline.js";
import { explainPip } from "../packages/explain-pip.js";
import { packageError } from "../packages/package-failure.js";
import { readInstaller } from "../packages/read-installer.js";
import type { ProviderSession } from "../provider.js";

const pip = ["python3", "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off", "--retries", "2"];

/** By variables: an older pip ignores those that it does not know. */
const env = {
  // Debian refuses to install beside its own packages, which in a sandbox of one's own harms nobody.
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
};

/** What follows an installation of packages. */
export interface InstallOptions {
  /** Told what pip does, line by line. */
  readonly onProgress?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Installs Python packages in a box by its own pip.
 * @param packages As `parsePythonPackages` has passed them.
 * @throws SandboxError `INVALID` for packages that there are not or that do not go together, `UNAVAILABLE` when the
 * index is not reached or the box has no pip; or `signal.reason`. What runs then has been ended.
 */
export async function installPackages(
  session: ProviderSession,
  packages: readonly string[],
  { onProgress, signal }: InstallOptions = {},
): Promise<void> {
  onProgress?.(`installing ${packages.join(", ")}`);
  const process = await session.spawn([...pip, "--", ...packages], { env, stdin: false, mergeStderr: true });
  try {
    const ended = await unlessAborted(readInstaller(process, onProgress), signal);
    if (ended.exitCode === 0) return;
    const verdict = ended.oom
      ? ({ reason: "memory", said: "killed" } as const)
      : explainPip(ended.text || `ended by ${ended.signal ?? `exit code ${ended.exitCode}`} without a word`);
    const { provider, id: sandboxId } = session.ref;
    throw packageError(verdict, packages, "pip", { provider, operation: "create", sandboxId });
  } catch (error) {
    // Why it failed counts more than that it could not be ended.
    await process.kill("SIGKILL").catch(() => undefined);
    throw error;
  }
}
