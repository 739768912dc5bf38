import { type ProviderProcess, type ProviderSession, SandboxError, unlessAborted } from "@sandkit/core";
import { providerName } from "./errors.js";

const pip = ["python3", "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off", "--retries", "2"];

/** By variables: an older pip ignores those that it does not know. */
const env = {
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
};

const keptCharacters = 16_384;

/**
 * Installs Python packages in the sandbox, with its own pip.
 * @throws SandboxError `INVALID` for one that is nowhere, `UNAVAILABLE`; or `signal.reason`
 */
export async function installPackages(
  session: ProviderSession,
  packages: readonly string[],
  {
    onProgress,
    signal,
  }: { readonly onProgress?: ((message: string) => void) | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  onProgress?.(`installing ${packages.join(", ")}`);
  const process = await session.spawn([...pip, "--", ...packages], { env, stdin: false, mergeStderr: true });
  try {
    const said = await unlessAborted(listen(process, onProgress), signal);
    const { exitCode, signal: killedBy } = await process.exited;
    if (exitCode === 0) return;
    throw failure(session, packages, said, killedBy === undefined ? `exit code ${exitCode}` : killedBy);
  } catch (error) {
    await process.kill("SIGKILL");
    throw error;
  }
}

/** Tells each line that pip prints of what it does, and keeps the last ones. */
async function listen(process: ProviderProcess, onProgress: ((message: string) => void) | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  let line = "";
  for await (const bytes of process.stdout) {
    const text = decoder.decode(bytes, { stream: true });
    said = (said + text).slice(-keptCharacters);
    const lines = (line + text).split("\n");
    line = lines.pop()?.slice(-keptCharacters) ?? "";
    for (const full of lines) if (/^(?:Collecting|Installing)\b/.test(full)) onProgress?.(full.trim());
  }
  return said;
}

function failure(session: ProviderSession, packages: readonly string[], said: string, end: string): SandboxError {
  const errors = said.split("\n").filter((line) => /^ERROR|No module named pip/.test(line.trim()));
  const words = (errors.length > 0 ? errors : said.trim().split("\n").slice(-2)).join(" ").slice(-1_000);
  // It says the same of a package that is nowhere and of an index that does not answer, but of the latter it has tried.
  const nowhere = said.includes("No matching distribution found") && !said.includes("Retrying (");
  const next = nowhere ? "correct its name or version" : "try again, or start from an image that has them";
  return new SandboxError(
    nowhere ? "INVALID" : "UNAVAILABLE",
    `packages ${packages.join(", ")} could not be installed (pip: ${end}): ${words}: ${next}`,
    { provider: providerName, operation: "create", sandboxId: session.ref.id, retryable: !nowhere },
  );
}
