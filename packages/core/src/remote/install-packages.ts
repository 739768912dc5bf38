import { unlessAborted } from "../deadline.js";
import { SandboxError } from "../errors.js";
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
 * @param packages As `checkRequirements` has passed them.
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
    const { exitCode, signal: killedBy } = await unlessAborted(process.exited, signal);
    if (exitCode === 0) return;
    throw failure(session, packages, said, killedBy ?? `exit code ${exitCode}`);
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

function failure({ ref }: ProviderSession, packages: readonly string[], said: string, end: string): SandboxError {
  // Of an index that does not answer pip says in the end that the package is nowhere; but then it has tried again.
  const unreached = /\bRetrying \(|No module named pip/.test(said);
  const next = unreached
    ? "check that the network policy lets the index through and that the template has pip"
    : "correct its name or version";
  return new SandboxError(
    unreached ? "UNAVAILABLE" : "INVALID",
    `packages ${packages.join(", ")} could not be installed (pip: ${end}): ${reasonIn(said)}: ${next}`,
    { provider: ref.provider, operation: "create", sandboxId: ref.id },
  );
}

/** What pip calls an error, else its last words. */
function reasonIn(said: string): string {
  const lines = said.trim().split("\n");
  const errors = lines.filter((line) => /^ERROR: |No module named pip/.test(line));
  return (errors.length > 0 ? errors : lines.slice(-2)).join("; ").slice(-1_000) || "it said nothing";
}
