/** First of all modules of the shell's realm: what the others, and just-bash, find as globals. */
import type { ShellHost } from "../host-api.js";
import { guard, lockErrors, seal } from "../seal.js";
import { bytesOf, installGlobals } from "../shims.js";
import { AbortController, AbortSignal } from "./abort.js";
import { Buffer } from "./buffer.js";
import { digest } from "./digest.js";

/** Argument of the function that the script of this realm is. */
declare const hostApi: ShellHost;

const untrusted = hostApi;

/** The way out of the realm. */
export const host: ShellHost = {
  ...seal(untrusted),
  compress(kind, bytes) {
    const [name, plain] = [`${kind}` as typeof kind, bytesOf(bytes)] as const;
    return guard(() => untrusted.compress(name, plain));
  },
  takeCompressed(target) {
    const plain = bytesOf(target);
    guard(() => untrusted.takeCompressed(plain));
  },
};
lockErrors();
export const { fire } = installGlobals(host);
Object.assign(globalThis, { AbortController, AbortSignal, Buffer });
Object.assign(crypto, { subtle: { digest } });
Object.assign(performance, { timeOrigin: Date.now() - performance.now() });
