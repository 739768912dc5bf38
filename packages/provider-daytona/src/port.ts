import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@daytonaio/sdk";
import { type PortInfo, SandboxError } from "@sandkit/core";
import { patiently } from "./call.js";
import { providerName } from "./errors.js";

const [firstLookMs, longestLookMs] = [50, 1_000];
const answerWithinMs = 5_000;
/** What the proxy before a sandbox says while nothing listens on a port. */
const nobodyThere: ReadonlySet<number> = new Set([502, 503]);

/**
 * The address of a port, and the headers that open it.
 * @param waitMs How long something may take to listen there; 0: it is not looked whether something does.
 * @throws SandboxError `UNAVAILABLE` when nothing listens in time
 */
export async function openPort(sandbox: Sandbox, port: number, waitMs: number): Promise<PortInfo> {
  const subject = `port ${port} of sandbox ${sandbox.id}`;
  const details = { provider: providerName, operation: "port", sandboxId: sandbox.id };
  const { url, token } = await patiently({ ...details, subject }, () => sandbox.getPreviewLink(port));
  const headers = { "x-daytona-preview-token": token, "x-daytona-skip-preview-warning": "true" };
  if (waitMs === 0 || (await isAnsweredWithin(url, headers, waitMs))) return { url, headers };
  const message = `${subject}: nothing answers after ${waitMs} ms: start a server there, listening on 0.0.0.0`;
  throw new SandboxError("UNAVAILABLE", message, details);
}

async function isAnsweredWithin(url: string, headers: Record<string, string>, waitMs: number): Promise<boolean> {
  const end = performance.now() + waitMs;
  for (let wait = firstLookMs; ; wait = Math.min(wait * 2, longestLookMs)) {
    if (await isAnswered(url, headers)) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(wait, left));
  }
}

async function isAnswered(url: string, headers: Record<string, string>): Promise<boolean> {
  const signal = AbortSignal.timeout(answerWithinMs);
  try {
    const response = await fetch(url, { method: "HEAD", headers, redirect: "manual", signal });
    await response.body?.cancel();
    return !nobodyThere.has(response.status);
  } catch {
    // Nobody there yet: it is asked again.
    return false;
  }
}
