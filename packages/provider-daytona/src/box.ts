import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { type BoxFacts, openPort, type RemoteBox } from "@sandkit/core/kit";
import { bulkFiles } from "./bulk-files.js";
import { patiently } from "./call.js";
import { daytonaCapabilities } from "./capabilities.js";
import { copySandbox } from "./copy.js";
import { contextOf, refreshed, whyUnreachable } from "./find.js";
import { type DaytonaMachine, isVirtualMachine } from "./machine.js";
import { minutesOf } from "./minutes.js";
import { pauseSandbox, resumeSandbox } from "./pause.js";
import { removeSandbox } from "./removal.js";
import { takeSnapshot } from "./snapshot.js";
import { isKept } from "./states.js";
import { PtyTerminal } from "./terminal.js";

/** What a box is made of. */
export interface BoxParts {
  readonly client: Daytona;
  readonly machine: DaytonaMachine;
  readonly facts: BoxFacts<DaytonaMachine>;
  readonly leaseMs: number;
  /** How long it is kept while it is paused, in milliseconds. */
  readonly pausedMs: number;
}

/** A sandbox at Daytona as `remoteSession` takes it. */
export function daytonaBox({ client, machine, facts, leaseMs, pausedMs }: BoxParts): RemoteBox {
  const { sandbox, hasImage } = machine;
  const { ref, workdir, env, info } = facts;
  const isVirtual = isVirtualMachine(sandbox);
  return {
    ref,
    workdir,
    env,
    info,
    capabilities: daytonaCapabilities({ isVirtualMachine: isVirtual, hasImage }),
    terminal: () => new PtyTerminal(sandbox),
    bulk: bulkFiles(sandbox),
    native: { sandbox, daytona: client },
    explainLoss: () => explainLoss(sandbox),
    destroy: () => removeSandbox(sandbox),
    port: async (port, { waitMs } = {}) => openPort({ ref, port, info: await addressOf(sandbox, port), waitMs }),
    pause: {
      keeps: isVirtual ? "processes" : "files",
      pause: () => pauseSandbox(sandbox, isVirtual, pausedMs),
      resume: () => resumeSandbox(sandbox, leaseMs),
    },
    snapshot: (name) => takeSnapshot(client, sandbox, name),
    ...(isVirtual && {
      fork: async (count: number) => facts.openCopies(await copySandbox(client, machine, facts.record, count, leaseMs)),
    }),
    extend: (ttlMs) => extend(sandbox, ttlMs),
  };
}

async function addressOf(sandbox: Sandbox, port: number) {
  const context = { ...contextOf(sandbox, "port"), subject: `port ${port} of sandbox ${sandbox.id}` };
  const { url, token } = await patiently(context, () => sandbox.getPreviewLink(port));
  return { url, headers: { "x-daytona-preview-token": token, "x-daytona-skip-preview-warning": "true" } };
}

/** Of one that rests, the end is that of its rest, which somebody else may have given it: it is left alone. */
async function extend(sandbox: Sandbox, ttlMs: number): Promise<void> {
  const why = await whyUnreachable(sandbox, "extend");
  if (why && (isKept(sandbox.state) || why.code === "SANDBOX_LOST")) throw why;
  await patiently(contextOf(sandbox, "extend"), () => sandbox.setTtl(minutesOf(ttlMs)));
}

async function explainLoss(sandbox: Sandbox): Promise<string | undefined> {
  const state = await refreshed(sandbox, "info");
  if (state === undefined || state === "destroying")
    return "Daytona has it no more: its time was up, or somebody removed it";
  if (state === "started") return undefined;
  return `at Daytona it is ${state}${sandbox.errorReason ? `: ${sandbox.errorReason}` : ""}`;
}
