import { unlessAborted } from "../deadline.js";
import { explainPip } from "../packages/explain-pip.js";
import { packageError } from "../packages/package-failure.js";
import type { ProviderProcess, ProviderSession } from "../provider.js";

const pip = ["python3", "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off", "--retries", "2"];

/** By variables: an older pip ignores those that it does not know. */
const env = {
  // Debian refuses to install beside its own packages, which in a sandbox of one's own harms nobody.
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
};

const keptCharacters = 16_384;
const toldLine = /^(?:Collecting|Downloading|Building|Installing|Successfully)\b/;

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
    const said = await unlessAborted(wordsOf(process, onProgress), signal);
    const { exitCode, signal: killedBy, oom } = await unlessAborted(process.exited, signal);
    if (exitCode === 0) return;
    const verdict = oom
      ? ({ reason: "memory", said: "killed" } as const)
      : explainPip(said || `ended by ${killedBy ?? `exit code ${exitCode}`} without a word`);
    const { provider, id: sandboxId } = session.ref;
    throw packageError(verdict, packages, "pip", { provider, operation: "create", sandboxId });
  } catch (error) {
    // Why it failed counts more than that it could not be ended.
    await process.kill("SIGKILL").catch(() => undefined);
    throw error;
  }
}

async function wordsOf(process: ProviderProcess, onProgress: InstallOptions["onProgress"]): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  let line = "";
  for await (const bytes of process.stdout) {
    const text = decoder.decode(bytes, { stream: true });
    said = (said + text).slice(-keptCharacters);
    const lines = (line + text).split("\n");
    line = lines.pop()?.slice(-keptCharacters) ?? "";
    for (const whole of lines) if (toldLine.test(whole)) onProgress?.(whole.trim());
  }
  return said + decoder.decode();
}
