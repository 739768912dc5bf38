/** Why something failed, by an errno name and in words for whoever wrote the guest's code. */
export interface NetworkFailure {
  readonly code: NetworkErrno;
  readonly message: string;
}

/** `EACCES`: the policy. `EINVAL`: no request that can be made. `EPROTO`: TLS, or no HTTP. `EFBIG`: too large. */
export type NetworkErrno =
  | "EACCES"
  | "EINVAL"
  | "ENOTFOUND"
  | "ECONNREFUSED"
  | "ECONNRESET"
  | "EHOSTUNREACH"
  | "ETIMEDOUT"
  | "EPROTO"
  | "EFBIG"
  | "EBUSY";

/** What is not done, or has failed, with what its guest is told. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrno;

  constructor(code: NetworkErrno, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

const codes: Readonly<Record<string, NetworkErrno>> = {
  ENOTFOUND: "ENOTFOUND",
  EAI_AGAIN: "ENOTFOUND",
  EAI_NONAME: "ENOTFOUND",
  ENODATA: "ENOTFOUND",
  ECONNREFUSED: "ECONNREFUSED",
  ECONNRESET: "ECONNRESET",
  EPIPE: "ECONNRESET",
  ECONNABORTED: "ECONNRESET",
  EHOSTUNREACH: "EHOSTUNREACH",
  ENETUNREACH: "EHOSTUNREACH",
  EADDRNOTAVAIL: "EHOSTUNREACH",
  // By a firewall of this machine.
  EACCES: "EHOSTUNREACH",
  EPERM: "EHOSTUNREACH",
  ETIMEDOUT: "ETIMEDOUT",
};
/** By code; what Node says besides can name addresses, which are not for the guest. */
const words: Readonly<Partial<Record<NetworkErrno, string>>> = {
  ENOTFOUND: "the name does not resolve",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before the answer was complete",
  EHOSTUNREACH: "the host cannot be reached",
  ETIMEDOUT: "the connection timed out",
};

/** The refusal of a host that is on no list, with the entry that would permit it. */
export function notListed(entry: string): NetworkError {
  const next = `create it with network: { allow: [${JSON.stringify(entry)}] }`;
  return new NetworkError("EACCES", `${entry} is not in this sandbox's allow-list: ${next}`);
}

/** Whether it was the proxy that would not, rather than a host or a network that could not. */
export function refuses({ code }: NetworkFailure): boolean {
  return code === "EACCES" || code === "EFBIG" || code === "EINVAL";
}

/** What a guest is told of a failure with this host. */
export function failureOf(error: unknown, host: string): NetworkFailure {
  if (error instanceof NetworkError) return { code: error.code, message: error.message };
  const code = codeOf(error);
  const known = codes[code];
  if (known) return { code: known, message: `${host}: ${words[known]}` };
  // Those of TLS and of the parser say what is wrong with what the host has sent, in constant words.
  return { code: "EPROTO", message: `${host}: ${messageOf(error)} (${code === "" ? "no code" : code})` };
}

function codeOf(error: unknown): string {
  // Several addresses were tried in vain: the first says enough.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "";
}

function messageOf(error: unknown): string {
  // Of OpenSSL's own errors the reason is what is meant for people, in a field or within the text.
  const { reason } = error as { reason?: unknown };
  if (typeof reason === "string" && reason !== "") return reason;
  const message = error instanceof Error ? error.message : "failed";
  return /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1] ?? message.slice(0, 300);
}
