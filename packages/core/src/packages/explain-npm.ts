import { lastLines, type PackageFailure, type PackageVerdict, shownAddress } from "./package-failure.js";

/** What npm's own codes mean; others are those of a program of a package, or of Node. */
const reasons: Readonly<Record<string, PackageFailure["reason"]>> = {
  E404: "absent",
  ETARGET: "version",
  ENOVERSIONS: "version",
  EBADENGINE: "version",
  EBADPLATFORM: "version",
  ERESOLVE: "conflict",
  ENOSPC: "space",
  EDQUOT: "space",
  E401: "denied",
  E403: "denied",
  ENEEDAUTH: "denied",
  ELIFECYCLE: "build",
  ...Object.fromEntries(
    [
      "EAI_AGAIN",
      "ENOTFOUND",
      "ECONNREFUSED",
      "ECONNRESET",
      "ECONNABORTED",
      "ETIMEDOUT",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "ESOCKETTIMEDOUT",
      "ERR_SOCKET_TIMEOUT",
      "EIDLETIMEOUT",
      "E500",
      "E502",
      "E503",
      "E504",
    ].map((code) => [code, "unreachable"] as const),
  ),
};
const ownLine = /^npm (?:error|ERR!) ?(.*)$/gm;

/**
 * What npm's words mean.
 * @param said Its output, both streams together.
 */
export function explainNpm(said: string, index?: string): PackageVerdict {
  const from = index === undefined ? {} : { index: shownAddress(index) };
  if (/not found|No such file/.test(said) && !said.includes("npm e") && !said.includes("npm E")) {
    return { reason: "tool", said: lastLines(said, 1) };
  }
  const lines = Array.from(said.matchAll(ownLine), ([, line]) => line ?? "");
  const code =
    lines
      .find((line) => line.startsWith("code "))
      ?.slice("code ".length)
      .trim() ?? "";
  const all = lines.join("\n");
  const reason =
    reasons[code] ?? ranProgram(code, all) ?? (/network|socket|FetchError/i.test(all) ? "unreachable" : "other");
  return { reason, package: packageIn(reason, all), ...from, said: wordsOf(reason, code, lines) };
}

/** A number is the exit code of what a package runs when it is installed. */
function ranProgram(code: string, all: string): "build" | undefined {
  return /^\d+$/.test(code) && /^command /m.test(all) ? "build" : undefined;
}

function packageIn(reason: PackageFailure["reason"], all: string): string | undefined {
  switch (reason) {
    case "absent":
      return all.match(/'([^']+?)(?:@\*)?' is not in this registry/)?.[1] ?? all.match(/404.* - GET \S+\/(\S+)/)?.[1];
    case "version":
      return all.match(/No matching version found for (\S+?)\.?$/m)?.[1];
    case "build":
      return all.match(/^path \S*\/node_modules\/(\S+)$/m)?.[1];
    case "unreachable":
      return all.match(/request to \S+\/([^\s/]+) failed/)?.[1];
    default:
      return undefined;
  }
}

function wordsOf(reason: PackageFailure["reason"], code: string, lines: readonly string[]): string {
  const about = lines.filter(
    (line) => !/^(?:code |A complete log|path |errno |syscall |command |\s+at |$)/.test(line) && line.trim() !== "404",
  );
  if (reason === "build") return lastLines(about.join("\n"), 8);
  const own = about.map((line) => line.replace(/^(?:404|notarget) ?/, "").trim()).filter((line) => line !== "");
  return `${code} ${own.slice(0, 4).join(" ")}`.trim().slice(0, 1_000);
}
