import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "../errors.js";
import type { PortInfo, SandboxRef } from "../provider.js";

const [firstLookMs, longestLookMs] = [50, 1_000];
const answerWithinMs = 5_000;
/** What the proxies of vendors say while nothing listens on a port. */
const nobodyThere: ReadonlySet<number> = new Set([502, 503]);

/** A port whose address is known. */
export interface AskedPort {
  readonly ref: SandboxRef;
  readonly port: number;
  readonly info: PortInfo;
  /** How long something may take to listen there; 0, the default: it is not looked whether something does. */
  readonly waitMs?: number | undefined;
}

/**
 * Waits until something listens on a port, as its vendor's proxy tells.
 * @throws SandboxError `UNAVAILABLE` when nothing does in time
 */
export async function openPort({ ref, port, info, waitMs = 0 }: AskedPort): Promise<PortInfo> {
  if (waitMs === 0) return info;
  const end = performance.now() + waitMs;
  for (let look = firstLookMs; !(await isAnswered(info)); look = Math.min(look * 2, longestLookMs)) {
    const left = end - performance.now();
    if (left <= 0) throw unanswered(ref, port, waitMs);
    await pause(Math.min(look, left));
  }
  return info;
}

async function isAnswered({ url, headers }: PortInfo): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "HEAD",
      redirect: "manual",
      headers: { ...headers },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.body?.cancel();
    return !nobodyThere.has(response.status);
  } catch {
    // Not reached yet, whatever the reason: the caller gives up when the time is over.
    return false;
  }
}

function unanswered({ provider, id }: SandboxRef, port: number, waitMs: number): SandboxError {
  const next = "start a server there that listens on 0.0.0.0, or wait longer (waitMs)";
  return new SandboxError(
    "UNAVAILABLE",
    `port ${port} of sandbox ${id}: nothing answers there after ${waitMs} ms: ${next}`,
    { provider, operation: "port", sandboxId: id },
  );
}
