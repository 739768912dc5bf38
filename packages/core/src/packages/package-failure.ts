import { type ErrorCode, SandboxError, type SandboxErrorDetails } from "../errors.js";

/** Why packages could not be installed, for programs that decide by it. */
export interface PackageFailure {
  /**
   * `absent`: the index has no such package; `version`: none of its versions fits; `conflict`: packages that do not go
   * together; `unreachable`: no answer from the index; `denied`: the index refuses; `blocked`: the network policy does;
   * `build`: a program of the package failed; `space`, `memory`, `time`: used up; `tool`: there is no pip or npm; `other`: see the message.
   */
  readonly reason:
    | "absent"
    | "version"
    | "conflict"
    | "unreachable"
    | "denied"
    | "blocked"
    | "build"
    | "space"
    | "memory"
    | "time"
    | "tool"
    | "other";
  /** Which one, as the installer calls it, where that is known. */
  readonly package?: string | undefined;
  /** Address of the index that was asked, without credentials. */
  readonly index?: string | undefined;
}

/** What an installer's words come to. */
export interface PackageVerdict extends PackageFailure {
  /** The installer's own words that matter, in one line. */
  readonly said: string;
}

interface Ending {
  readonly code: ErrorCode;
  readonly what: string;
  readonly next: string;
  /** Whether it may go well another time, where that is not what the code says. */
  readonly retryable?: boolean;
}

/** What each reason means to the caller. */
const endings: Readonly<Record<PackageFailure["reason"], Ending>> = {
  absent: { code: "INVALID", what: "the index has no such package for this image", next: "correct its name" },
  version: { code: "INVALID", what: "no version of it fits", next: "ask for one that there is" },
  conflict: { code: "INVALID", what: "they do not go together", next: "loosen the versions asked for" },
  unreachable: {
    code: "UNAVAILABLE",
    what: "the index was not reached",
    next: "check the network of this machine, and that the network policy lets the index through; then try again",
  },
  denied: {
    code: "AUTH",
    what: "the index refuses",
    next: "check the credentials in its address",
  },
  blocked: {
    code: "DENIED",
    what: "the network policy does not let it through",
    next: "see why it was refused; a host of your own network is permitted by the provider's option packageHosts",
  },
  build: {
    code: "INVALID",
    what: "a program of the package failed",
    next: "ask for a version that is ready-made for the image, or use an image with the compiler that it needs",
  },
  space: {
    code: "NO_SPACE",
    what: "there was no more space",
    next: "ask for less, or give the installation more memory, which its files count as",
  },
  memory: { code: "NO_SPACE", what: "there was no more memory", next: "give the installation more memory" },
  time: { code: "TIMEOUT", what: "it took too long", next: "try again, or allow more time" },
  tool: {
    code: "UNAVAILABLE",
    what: "the image has no program to install them",
    next: "use a template or image that has pip, or npm",
    retryable: false,
  },
  other: { code: "INVALID", what: "it failed", next: "see what it says" },
};

/**
 * The error of an installation that failed: which package, which index, why, and what to do.
 * @param asked What was to be installed, for the message.
 */
export function packageError(
  verdict: PackageVerdict,
  asked: readonly string[],
  installer: string,
  details: SandboxErrorDetails,
): SandboxError {
  const { code, what, next, retryable } = endings[verdict.reason];
  const { reason, package: name, index, said } = verdict;
  const subject = name === undefined ? "" : ` because of "${name}"`;
  const from = index === undefined ? "" : ` from ${index}`;
  const message = `packages ${asked.join(", ")} could not be installed${from}${subject}: ${what} (${installer}: ${said}): ${next}`;
  return new SandboxError(code, message, {
    retryable,
    ...details,
    packageFailure: { reason, ...(name !== undefined && { package: name }), ...(index !== undefined && { index }) },
  });
}

/** An address as it may be shown: without name and password. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

/** The last lines that say something, in one. */
export function lastLines(said: string, count: number): string {
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.slice(-count).join(" | ").slice(-1_500) || "it said nothing";
}
