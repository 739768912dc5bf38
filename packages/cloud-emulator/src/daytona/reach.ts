import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.js";
import type { Exchange } from "../http/exchange.js";
import { ApiFailure } from "./api-failure.js";
import type { CloudSandbox } from "./control/cloud-sandbox.js";
import type { Sandboxes } from "./control/sandboxes.js";
import type { Toolbox } from "./toolbox/toolbox.js";

/** Who may reach what. */
export interface ReachOptions {
  readonly sandboxes: Sandboxes;
  readonly clock: Clock;
  readonly apiKeys: readonly string[];
}

/** Routes that a signed URL opens, for the method that is signed. */
const signedRoutes: Readonly<Record<string, string>> = { "/files/download": "GET", "/files/upload-v2": "POST" };

/** Checks keys and signatures, and leads to what runs. */
export class Reach {
  readonly #options: ReachOptions;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** @throws ApiFailure 401 */
  requireKey({ headers }: IncomingMessage): void {
    const [, key = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
    if (!this.#options.apiKeys.includes(key)) throw new ApiFailure("DAYTONA_API", 401, "Invalid credentials");
  }

  /** The program in a sandbox, for a request that may be signed instead of carrying a key. */
  toolbox(id: string, exchange: Exchange): Toolbox {
    if (!this.#isSigned(id, exchange)) this.requireKey(exchange.request);
    return this.running(id);
  }

  /** The program in a sandbox that runs; that it is asked for counts as activity. @throws ApiFailure 400, 404 */
  running(id: string): Toolbox {
    const toolbox = this.unnoticed(id);
    this.sandbox(id).lastActivityAt = this.#options.clock.now();
    return toolbox;
  }

  /** The same, without any effect on when it is stopped. */
  unnoticed(id: string): Toolbox {
    const { toolbox, state } = this.sandbox(id);
    if (toolbox && state === "started") return toolbox;
    throw new ApiFailure("DAYTONA_PROXY", 400, `bad request: sandbox ${id} is not started: it is ${state}`);
  }

  /** @throws ApiFailure 404 */
  sandbox(id: string): CloudSandbox {
    const found = this.#options.sandboxes.all.find((one) => one.id === id);
    if (!found) throw new ApiFailure("DAYTONA_PROXY", 404, `sandbox ${id} not found`);
    return found;
  }

  #isSigned(id: string, { method, path, query }: Exchange): boolean {
    const signature = query.get("signature");
    if (signature === null || signedRoutes[path.slice(`/toolbox/${id}`.length)] !== method) return false;
    const expires = query.get("expires") ?? "";
    const text = `v1:files:${method}:${query.get("path")}:${expires}`;
    const digest = createHmac("sha256", this.sandbox(id).signingKey).update(text).digest("base64url");
    const [expected, given] = [Buffer.from(`v1_${digest}`), Buffer.from(signature)];
    // An end of 0 is one that never comes.
    const inTime = expires === "0" || Number(expires) * 1_000 > this.#options.clock.now();
    return inTime && expected.length === given.length && timingSafeEqual(expected, given);
  }
}
