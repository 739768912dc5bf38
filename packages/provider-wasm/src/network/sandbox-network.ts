import * as http from "node:http";
import * as https from "node:https";
import { AllowList } from "@sandkit/core";
import { Slots } from "@sandkit/core/kit";
import { guardedLookups, type Resolve } from "@sandkit/core/network";
import { Exchange, type ExchangeContext, type ExchangeLimits, type ExchangeListener } from "./exchange.js";
import type { GuestRequest } from "./messages.js";

/** Requests that are under way to hosts at one time; more wait for their turn. */
const mostAtOnce = 8;
const limits: ExchangeLimits = {
  connectMs: 10_000,
  idleMs: 60_000,
  queueMs: 60_000,
  maxBodyBytes: 256 * 1024 * 1024,
};
/** Of a connection that waits for its next request. */
const keptMs = 4_000;

/** What tests put in the place of the world. */
export interface NetworkSeams {
  readonly resolve?: Resolve | undefined;
  readonly limits?: Partial<ExchangeLimits> | undefined;
}

/**
 * The network of one sandbox: HTTP and HTTPS to the hosts of its list, done by this process on its behalf. It brings no
 * cookies, no credentials and no proxy of this process along.
 */
export class SandboxNetwork {
  readonly #context: ExchangeContext;
  readonly #agents: readonly http.Agent[];
  readonly #underWay = new Set<Exchange>();

  /** @throws TypeError naming an entry of the list that is none */
  constructor(allow: readonly string[], seams: NetworkSeams = {}) {
    const kept = { keepAlive: true, maxFreeSockets: mostAtOnce, timeout: keptMs };
    const agents = {
      secure: { kept: new https.Agent(kept), single: new https.Agent() },
      plain: { kept: new http.Agent(kept), single: new http.Agent() },
    };
    this.#agents = Object.values(agents).flatMap((pair) => Object.values(pair));
    this.#context = {
      allowList: new AllowList(allow),
      turns: new Slots(mostAtOnce),
      limits: { ...limits, ...seams.limits },
      lookup: guardedLookups(seams),
      agent: (secure, keeps) => agents[secure ? "secure" : "plain"][keeps ? "kept" : "single"],
    };
  }

  /** Begins a request; its listener is told of everything, also of a refusal. */
  open(request: GuestRequest, listener: ExchangeListener): Exchange {
    const exchange = new Exchange(request, this.#context, listener);
    this.#underWay.add(exchange);
    // After the caller has what it is to be told about.
    void Promise.resolve()
      .then(() => exchange.run())
      .finally(() => this.#underWay.delete(exchange));
    return exchange;
  }

  /** Ends everything that is under way. */
  close(): void {
    for (const exchange of this.#underWay) exchange.close();
    for (const agent of this.#agents) agent.destroy();
  }
}
