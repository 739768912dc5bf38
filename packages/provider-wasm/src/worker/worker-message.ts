import type { Announcement } from "../link.js";
import type { ScriptCaches } from "./realm-host.js";

/** What a worker tells its broker by message. */
export type WorkerMessage = Announcement | { readonly signals: SharedArrayBuffer } | { readonly caches: ScriptCaches };
