import profile from "./seccomp.json" with { type: "json" };

/** What sets how a process is scheduled, by the argument that names the process. */
const scheduling = [
  { name: "sched_setaffinity", process: 0 },
  { name: "sched_setattr", process: 0 },
  { name: "sched_setparam", process: 0 },
  { name: "sched_setscheduler", process: 0 },
  // Of one process: by user or group it would reach the agent too.
  { name: "setpriority", process: 1, also: [{ index: 0, value: 0, valueTwo: 0, op: "SCMP_CMP_EQ" }] },
];
const processBits = 22;

/**
 * Programs may set the scheduling of all but process 1, the agent, which they could starve otherwise. Written as "bit
 * 0 is not set, or a higher one is": a filter compares 64 bits for inequality, and the kernel looks at 32.
 */
const schedulingRules = scheduling.flatMap(({ name, process, also = [] }) =>
  Array.from({ length: processBits }, (_, bit) => ({
    names: [name],
    action: "SCMP_ACT_ALLOW",
    args: [...also, { index: process, value: 2 ** bit, valueTwo: bit === 0 ? 0 : 2 ** bit, op: "SCMP_CMP_MASKED_EQ" }],
  })),
);

/**
 * The entry of `SecurityOpt` with our own filter of system calls, in place of the engine's, which on old engines lets
 * io_uring, ptrace and AF_VSOCK through. An allow-list: what it does not name fails with EPERM. Programs of another
 * architecture than the machine's, 32-bit ones too, are killed: their calls have other numbers.
 */
export const seccompOption = `seccomp=${JSON.stringify({ ...profile, syscalls: [...profile.syscalls, ...schedulingRules] }, withoutComments)}`;

function withoutComments(key: string, value: unknown): unknown {
  return key === "comment" ? undefined : value;
}
