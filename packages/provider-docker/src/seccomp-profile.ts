import profile from "./seccomp.json" with { type: "json" };

/**
 * The entry of `SecurityOpt` with our own filter of system calls, in place of the engine's, which on old engines lets
 * io_uring, ptrace and AF_VSOCK through. An allow-list: what it does not name fails with EPERM. Programs of another
 * architecture than the machine's, 32-bit ones too, are killed: their calls have other numbers.
 */
export const seccompOption = `seccomp=${JSON.stringify(profile, withoutComments)}`;

function withoutComments(key: string, value: unknown): unknown {
  return key === "comment" ? undefined : value;
}
