import type { Daytona, Sandbox } from "@daytonaio/sdk";
import type { ProviderSession, RemoteBox, SandboxInfo } from "@sandkit/core";
import { bulkFiles } from "./bulk-files.js";
import { patiently } from "./call.js";
import { daytonaCapabilities } from "./capabilities.js";
import { providerName } from "./errors.js";
import { contextOf, refreshed } from "./find.js";
import { forkSandbox } from "./fork.js";
import type { DaytonaRecord } from "./labels.js";
import { minutesOf } from "./minutes.js";
import { pauseSandbox, resumeSandbox } from "./pause.js";
import { openPort } from "./port.js";
import { removeSandbox } from "./removal.js";
import { takeSnapshot } from "./snapshot.js";
import { type DaytonaState, stateOf } from "./states.js";
import { PtyTerminal } from "./terminal.js";

/** What a session of a sandbox at Daytona is made of. */
export interface BoxParts {
  readonly client: Daytona;
  readonly sandbox: Sandbox;
  readonly record: DaytonaRecord;
  readonly origin: "created" | "attached";
  /** How long it is kept while it is paused, in milliseconds. */
  readonly pausedMs: number;
  readonly leaseMs: number;
  /** Over the environment of the sandbox; of its creator alone. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Makes a session of a fork. */
  readonly adopt: (fork: Sandbox, record: DaytonaRecord) => Promise<ProviderSession>;
}

/** A sandbox at Daytona as `remoteSession` takes it. */
export function daytonaBox(parts: BoxParts): RemoteBox {
  const { sandbox, record, origin } = parts;
  const isVirtualMachine = sandbox.sandboxClass !== undefined && sandbox.sandboxClass !== "container";
  return {
    ref: { provider: providerName, id: sandbox.id },
    capabilities: daytonaCapabilities({ isVirtualMachine, hasImage: record.hasImage }),
    workdir: record.workdir,
    env: parts.env,
    terminal: () => new PtyTerminal(sandbox),
    bulk: bulkFiles(sandbox),
    native: { sandbox, daytona: parts.client },
    info: async () => ({ ...factsOf(sandbox, record, await refreshed(sandbox, "info")), origin }),
    explainLoss: () => explainLoss(sandbox),
    destroy: once(() => removeSandbox(sandbox)),
    port: (port, { waitMs = 0 } = {}) => openPort(sandbox, port, waitMs),
    pause: {
      keeps: isVirtualMachine ? "processes" : "files",
      pause: () => pauseSandbox(sandbox, isVirtualMachine, parts.pausedMs),
      resume: () => resumeSandbox(sandbox, parts.leaseMs),
    },
    snapshot: (name) => takeSnapshot(parts.client, sandbox, name),
    ...(isVirtualMachine && { fork: (count: number) => forkSandbox(parts, count) }),
    extend: (ttlMs) => patiently(contextOf(sandbox, "extend"), () => sandbox.setTtl(minutesOf(ttlMs))),
  };
}

/** What Daytona says of a sandbox. @param state Undefined: it is gone. */
export function factsOf(
  { autoDestroyAt }: Sandbox,
  { name, template, createdAt, labels }: DaytonaRecord,
  state: DaytonaState,
): Omit<SandboxInfo, "ref" | "origin" | "shells" | "interpreters"> {
  const expiresAt = autoDestroyAt === undefined ? undefined : new Date(autoDestroyAt);
  return { state: state === undefined ? "gone" : stateOf(state), name, template, createdAt, labels, expiresAt };
}

async function explainLoss(sandbox: Sandbox): Promise<string | undefined> {
  const state = await refreshed(sandbox, "info");
  if (state === undefined || state === "destroying")
    return "Daytona has it no more: its time was up, or somebody removed it";
  if (state === "started") return undefined;
  return `at Daytona it is ${state}${sandbox.errorReason ? `: ${sandbox.errorReason}` : ""}`;
}

/** Done once, however many ask for it; once more after a failure. */
function once(work: () => Promise<void>): () => Promise<void> {
  let under: Promise<void> | undefined;
  return () => {
    under ??= work().catch((error) => {
      under = undefined;
      throw error;
    });
    return under;
  };
}
