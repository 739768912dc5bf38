import { lastLines, type PackageVerdict, shownAddress } from "./package-failure.js";

const unreached =
  /Retrying \(|Read timed out|ReadTimeoutError|IncompleteRead|Connection broken|connection was forcibly|Max retries exceeded|name resolution|CERTIFICATE_VERIFY_FAILED|ConnectTimeoutError/;
const unfit =
  /Could not find a version that satisfies the requirement ([^\n(]+?)(?: \(from (?!versions:)[^)]*\))? \(from versions: ([^)]*)\)/;
const conflicting = /Cannot install ([^\n]+?) because these package versions have conflicting dependencies/;
const unbuilt =
  /Failed building wheel for (\S+)|Failed to build (?!installable)['"]?([\w.-]+)|Encountered error while generating package metadata[\s\S]*?╰─> (?!See\b)([\w.-]+)/;

/**
 * What pip's words mean; it has one exit code for all failures.
 * @param said Its output, both streams together.
 * @param index The index, where it is not named in the words.
 */
export function explainPip(said: string, index?: string): PackageVerdict {
  const named = index ?? said.match(/Looking in indexes: ([^\s,]+)/)?.[1];
  const from = named === undefined ? {} : { index: shownAddress(named) };
  if (/No module named pip\b/.test(said)) return { reason: "tool", said: "No module named pip" };
  if (/\[Errno 28\]|No space left on device|\[Errno 122\]/.test(said)) return { reason: "space", said: errorsIn(said) };
  const [, tunnel] = said.match(/Tunnel connection failed: (\d{3}[^'")\n]*)/) ?? [];
  if (tunnel !== undefined)
    return { reason: tunnel.startsWith("403") ? "blocked" : "unreachable", ...from, said: tunnel };
  const denied = said.match(/\b40[13] (?:Client )?Error[^\n]*/)?.[0];
  if (denied !== undefined) return { reason: "denied", ...from, said: withoutCredentials(denied) };
  const clash = said.match(conflicting)?.[1];
  if (clash !== undefined || said.includes("ResolutionImpossible")) {
    const cause = said.match(/The conflict is caused by:\n((?: {4}.*\n)+)/)?.[1];
    return { reason: "conflict", package: clash, ...from, said: cause ? lastLines(cause, 6) : errorsIn(said) };
  }
  const built = said.match(unbuilt);
  if (built || /subprocess-exited-with-error/.test(said)) {
    const name = built?.slice(1).find(Boolean);
    return { reason: "build", package: name ?? lastCollected(said), ...from, said: lastLines(buildOutput(said), 8) };
  }
  // Of an index that does not answer pip says in the end that the package is nowhere; but then it has tried again.
  if (unreached.test(said)) {
    const name = said.match(unfit)?.[1] ?? lastCollected(said);
    return { reason: "unreachable", package: name, ...from, said: whyUnreached(said) };
  }
  const [, name, versions] = said.match(unfit) ?? [];
  if (name !== undefined) {
    const there = !versions || versions === "none" ? undefined : versions;
    return there === undefined
      ? { reason: "absent", package: name, ...from, said: errorsIn(said) }
      : { reason: "version", package: name, ...from, said: `there are ${shortened(there)}` };
  }
  return { reason: "other", ...from, said: errorsIn(said) };
}

function lastCollected(said: string): string | undefined {
  return Array.from(said.matchAll(/^\s*Collecting ([^\s(]+)/gm), ([, name]) => name).at(-1);
}

/** The program's own output, which pip draws in a box. */
function buildOutput(said: string): string {
  const parts = Array.from(said.matchAll(/\[\d+ lines of output\]\n([\s\S]*?)\[end of output\]/g), ([, text]) => text);
  return (parts.at(-1) ?? said).replaceAll("╰─>", "");
}

function whyUnreached(said: string): string {
  const broken = Array.from(said.matchAll(/connection broken by '(.*)': \//g), ([, text]) => text ?? "").at(-1);
  const words = broken ?? said.match(unreached)?.[0] ?? "";
  const reason = words.match(/\[Errno [^\]]*\] [^'")]+|Read timed out[^'")]*|ProxyError\('[^']*'/)?.[0];
  return withoutCredentials(reason ?? (broken || lastLines(said, 2))).slice(0, 500);
}

/** What pip calls an error, else its last words. */
function errorsIn(said: string): string {
  const lines = said.split("\n").filter((line) => line.startsWith("ERROR: "));
  const text = lines.length > 0 ? lines.map((line) => line.slice("ERROR: ".length)).join("; ") : lastLines(said, 2);
  return withoutCredentials(text).slice(-1_000);
}

/** Of many versions the newest. */
function shortened(versions: string): string {
  const all = versions.split(", ");
  return all.length <= 12 ? versions : `${all.length} versions, the last of them ${all.slice(-8).join(", ")}`;
}

function withoutCredentials(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/@'"]+@/g, "$1");
}
