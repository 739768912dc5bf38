import { type Contact, type ProviderProcess, type ProviderSession, unlessAborted } from "@sandkit/core";
import { explainNpm, explainPip, type PackageVerdict, packageError, readInstaller } from "@sandkit/core/kit";
import { guestFile } from "./guest-file.js";
import { about, type Installation, silenceSeconds } from "./installation.js";
import { places } from "./places.js";

const pipInstall = ["python3", "-m", "pip", "install", "--no-cache-dir", "--progress-bar", "off"];
const pipPatience = ["--retries", "1", "--timeout", String(silenceSeconds), "--no-warn-script-location"];

/** Installs Python's packages of a set by pip. @returns where the interpreter looks for packages, and where these are */
export async function installPython(session: ProviderSession, work: Installation, failed: readonly Contact[]) {
  const { set, indexes, base, signal } = work;
  const look = await readInstaller(
    await session.spawn(["python3", "-c", await guestFile("place.py")], { stdin: false }),
  );
  const place =
    look.exitCode === 0 ? (JSON.parse(look.text) as { site: string | null; user: string | null }) : undefined;
  if (!place?.site?.startsWith("/")) {
    const verdict: PackageVerdict = {
      reason: "tool",
      said: `image ${base.reference} has no python3 with places for packages`,
    };
    throw packageError(verdict, set.names, "pip", about);
  }
  await session.files.mkdir(places.python);
  const where = place.user === null ? ["--target", places.python] : ["--user"];
  const process = await session.spawn([...pipInstall, ...pipPatience, ...where, "--", ...set.asked.python], {
    stdin: false,
    mergeStderr: true,
  });
  const explain = (said: string) => explainPip(said, indexes.PIP_INDEX_URL);
  await finish(process, work, { installer: "pip", explain, failed, signal });
  return { site: place.site, folder: place.user ?? places.python };
}

const npmInstall = ["npm", "install", "--prefix", places.node, "--no-audit", "--no-fund", "--no-update-notifier"];

/** Installs Node's packages of a set by npm. */
export async function installNode(
  session: ProviderSession,
  work: Installation,
  failed: readonly Contact[],
): Promise<void> {
  const { set, indexes, signal } = work;
  await session.files.mkdir(`${places.node}/node_modules`);
  const process = await session.spawn([...npmInstall, "--", ...set.asked.node], {
    cwd: places.node,
    stdin: false,
    mergeStderr: true,
  });
  await finish(process, work, {
    installer: "npm",
    explain: (said) => explainNpm(said, indexes.npm_config_registry),
    failed,
    signal,
  });
}

interface Finish {
  readonly installer: "pip" | "npm";
  readonly explain: (said: string) => PackageVerdict;
  /** Contacts that did not come about, or were refused. */
  readonly failed: readonly Contact[];
  readonly signal: AbortSignal;
}

/** Waits for an installer and everything that it started. */
async function finish(
  process: ProviderProcess,
  work: Installation,
  { installer, explain, failed, signal }: Finish,
): Promise<void> {
  const { text, exitCode, oom } = await unlessAborted(readInstaller(process, work.onProgress), signal);
  // What a package has left running must not change what is taken from here.
  await process.kill("SIGKILL");
  await unlessAborted(process.gone, signal);
  if (exitCode === 0) return;
  const verdict = oom ? ({ reason: "memory", said: "killed" } as const) : explain(text);
  throw packageError(corrected(verdict, failed), work.set.names, installer, about);
}

/** An installer takes an index that nobody reached for one without the package: what was contacted is known better. */
function corrected(verdict: PackageVerdict, failed: readonly Contact[]): PackageVerdict {
  const contact = failed.at(-1);
  if (!contact || !["absent", "unreachable", "denied", "blocked", "other"].includes(verdict.reason)) return verdict;
  const said = `${contact.host}:${contact.port}: ${contact.reason}`;
  const reason = contact.decision === "refused" ? "blocked" : "unreachable";
  return { ...verdict, reason, index: verdict.index ?? contact.host, said };
}
