import { SandboxError } from "./errors.js";

/**
 * `native`: the backend does it itself. `emulated`: Sandkit builds it from other means, with the same meaning.
 * `false`: asking for it is `UNSUPPORTED`, before anything is created.
 */
export type Support = "native" | "emulated" | false;

/** Every feature that a provider may have, as data. */
export const features = {
  exec: "command strings, run by a shell (`sh -c`)",
  "exec.argv": "a program with its arguments, without a shell",
  "exec.stdin": "input to a command, with end of file",
  "exec.stderr": "stdout and stderr kept apart",
  "exec.stream": "output while the command runs, with back-pressure",
  "exec.killTree": "a timeout, abort or kill ends every descendant",
  "exec.user": "a command under another user",
  "exec.pty": "a command on a pseudo terminal",
  "process.background": "commands that go on while others run",
  "process.reattach": "processes found again by id from another client",
  files: "read, write, list, stat, mkdir, move, remove",
  "files.stream": "files larger than memory, in and out",
  "files.symlink": "symbolic links told apart from what they lead to",
  "files.watch": "notice of changes",
  "kernel.python": "stateful Python cells",
  "kernel.javascript": "stateful JavaScript cells",
  "kernel.bash": "stateful shell cells",
  "kernel.interrupt": "a running cell stopped with its state kept",
  ports: "servers in the sandbox reached from outside",
  "network.none": "no network at all",
  "network.allowlist": "network to named hosts only",
  "network.full": "network without restriction",
  "network.contacts": "each contact with a host reported",
  "resources.memory": "a cap on memory",
  "resources.cpu": "a cap on processor time",
  "resources.disk": "a cap on stored bytes",
  "resources.pids": "a cap on processes",
  "lifetime.ttl": "an end at a fixed time",
  "lifetime.idle": "an end after a time without use",
  "lifetime.detached": "a sandbox that outlives its creator",
  packages: "packages installed at creation",
  pause: "paused and resumed",
  snapshot: "saved and created again from what was saved",
  fork: "copied while it lives",
  attach: "found again by its ref",
  list: "listed with its siblings",
  git: "git operations",
} as const;

/** The name of a feature. */
export type Feature = keyof typeof features;

/** How strongly a sandbox is separated from the machine it runs on. */
export type Isolation = "none" | "wasm" | "container" | "gvisor" | "microvm";

/** Sizes and counts that a provider does not exceed; absent where there is no limit known. */
export interface Limits {
  /** Commands at one time in one sandbox. */
  readonly maxConcurrentExec?: number | undefined;
  /** Longest `lifetime.ttlMs`, in milliseconds. */
  readonly maxTtlMs?: number | undefined;
  /** Largest single file, in bytes. */
  readonly maxFileBytes?: number | undefined;
}

/** What a provider (an upper bound) or a session (the truth) can do. */
export interface Capabilities {
  readonly features: Readonly<Record<Feature, Support>>;
  readonly isolation: Isolation;
  readonly limits: Limits;
}

/** Builds {@link Capabilities} from the features that are there; every other one is `false`. */
export function capabilities(options: {
  readonly isolation: Isolation;
  readonly features: Readonly<Partial<Record<Feature, Support>>>;
  readonly limits?: Limits;
}): Capabilities {
  const none = Object.fromEntries(Object.keys(features).map((name) => [name, false]));
  return {
    features: { ...none, ...options.features } as Record<Feature, Support>,
    isolation: options.isolation,
    limits: options.limits ?? {},
  };
}

/**
 * Refuses what is not there, by name.
 * @param asked What the caller wrote that needs the feature: `option "network"`, `a command string`.
 * @throws SandboxError `UNSUPPORTED`
 */
export function requireFeature(
  owner: { readonly name: string; readonly capabilities: Capabilities },
  feature: Feature,
  asked: string,
  hint?: string,
): void {
  if (owner.capabilities.features[feature]) return;
  const next = hint ?? `leave it out, or choose a provider that declares "${feature}"`;
  throw new SandboxError(
    "UNSUPPORTED",
    `${asked} needs "${feature}" (${features[feature]}), which provider "${owner.name}" does not have: ${next}`,
    { provider: owner.name },
  );
}
