import { type ProviderSession, SandboxError, unlessAborted } from "@sandkit/core";
import { providerName, refusal } from "./errors.js";

const version = "[A-Za-z0-9.*+!_-]+";
const comparison = `\\s*(?:===|==|~=|!=|<=|>=|<|>)\\s*${version}\\s*`;
const requirement = new RegExp(
  `^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\\s*(?:\\[[A-Za-z0-9._, -]*\\])?(?:${comparison}(?:,${comparison})*)?\\s*(?:;[^\\n]*)?$`,
);
/** What is kept of what pip says, for an error. */
const keptCharacters = 20_000;

/**
 * Refuses what is no requirement; an option of pip or an address among them would be more than a package.
 * @throws SandboxError `INVALID`, naming it
 */
export function checkPackages(packages: readonly string[]): void {
  for (const entry of packages) {
    if (requirement.test(entry)) continue;
    throw refusal("INVALID", `package ${JSON.stringify(entry)}: must be a requirement like requests[socks]>=2,<3`);
  }
}

/** Hosts of the indexes that the environment of a sandbox names for pip. */
export function indexHostsOf(env: Readonly<Record<string, string>>): string[] {
  const urls = [env.PIP_INDEX_URL, ...(env.PIP_EXTRA_INDEX_URL?.split(/\s+/) ?? [])];
  return urls.flatMap((url) => (url && URL.canParse(url) ? [new URL(url).hostname] : []));
}

/**
 * Installs packages by the pip of the sandbox, told to `onProgress` line by line.
 * @throws SandboxError `INVALID` for packages that there are not or that do not go together; `UNAVAILABLE` when the
 * index is not reached
 */
export async function installPackages(
  session: ProviderSession,
  packages: readonly string[],
  { signal, onProgress }: { signal?: AbortSignal | undefined; onProgress?: ((message: string) => void) | undefined },
): Promise<void> {
  const quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-color"];
  const patience = ["--retries", "2", "--timeout", "15"];
  const command = ["python3", "-m", "pip", "install", ...quiet, ...patience, "--", ...packages];
  // Debian refuses to install beside its own packages, which in a sandbox of one's own harms nobody.
  const env = { PIP_BREAK_SYSTEM_PACKAGES: "1", PIP_ROOT_USER_ACTION: "ignore" };
  const pip = await session.spawn(command, { stdin: false, mergeStderr: true, env });
  const said = await unlessAborted(wordsOf(pip.stdout, onProgress), signal);
  const { exitCode } = await unlessAborted(pip.exited, signal);
  if (exitCode === 0) return;
  const names = packages.map((name) => JSON.stringify(name)).join(", ");
  const unreached = /Connection|Retrying|timed out|Temporary failure|Max retries/i.test(said);
  const next = unreached ? "check that its index is reached" : "correct its name or version";
  const code = unreached ? "UNAVAILABLE" : "INVALID";
  throw new SandboxError(code, `packages ${names} could not be installed: ${reasonIn(said)}: ${next}`, {
    provider: providerName,
    operation: "create",
    sandboxId: session.ref.id,
  });
}

async function wordsOf(
  stream: ReadableStream<Uint8Array>,
  onProgress: ((message: string) => void) | undefined,
): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  let line = "";
  for await (const bytes of stream) {
    const text = decoder.decode(bytes, { stream: true });
    said = (said + text).slice(-keptCharacters);
    const lines = (line + text).split("\n");
    line = (lines.pop() ?? "").slice(-keptCharacters);
    for (const whole of lines)
      if (/^(Collecting|Downloading|Building|Installing|Successfully)/.test(whole)) onProgress?.(whole);
  }
  return said + decoder.decode();
}

/** What pip calls an error, else its last words. */
function reasonIn(said: string): string {
  const lines = said.trim().split("\n");
  const errors = lines.filter((line) => line.startsWith("ERROR: ")).map((line) => line.slice("ERROR: ".length));
  return (errors.length > 0 ? errors : lines.slice(-1)).join("; ").slice(-1_000) || "pip said nothing";
}
