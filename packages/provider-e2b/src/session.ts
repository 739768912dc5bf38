import { type ProviderSession, remoteSession } from "@sandkit/core";
import type { E2BBox } from "./box.js";
import { watchFiles } from "./watch.js";

/** How a session is opened. */
export interface SessionWords {
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly leaseMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly origin: "created" | "attached";
  readonly startAgent?: boolean | undefined;
}

/** The session of a running sandbox: core's over the terminal, and notice of changes by E2B itself. */
export async function openSession(box: E2BBox, words: SessionWords): Promise<ProviderSession> {
  const session = await remoteSession(box, { ...words, detached: box.detached });
  const watch = (...args: WatchArguments) => watchFiles(box, ...args);
  Object.assign(session.files, { watch });
  return session;
}

type WatchArguments = Parameters<NonNullable<ProviderSession["files"]["watch"]>>;
