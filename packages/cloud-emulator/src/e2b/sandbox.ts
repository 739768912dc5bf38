import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { Duplex } from "node:stream";
import type { CreateOptions } from "@sandkit/core";
import type { Clock, ClockTimer } from "../clock.js";
import type { EmulatedBox } from "../emulated-box.js";
import type { Exchange } from "../http/exchange.js";
import type { Api } from "./api-types.js";
import { Envd } from "./envd/envd.js";
import { newId } from "./ids.js";
import type { E2BQuirks } from "./quirks.js";

/** What a sandbox is made with. */
export interface SandboxPlan {
  readonly box: EmulatedBox;
  /** What the provider made it with. */
  readonly machine: CreateOptions;
  readonly templateID: string;
  readonly alias?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly envVars: Readonly<Record<string, string>>;
  readonly secure: boolean;
  readonly network: Api["SandboxNetworkConfig"] | undefined;
  readonly allowInternetAccess: boolean | undefined;
  readonly onTimeout: "kill" | "pause";
  readonly keepsMemory: boolean;
  readonly autoResume: boolean;
  readonly clock: Clock;
  readonly quirks: E2BQuirks;
}

/** One sandbox of an emulated E2B: its machine, its end of life, and envd. */
export class E2BSandbox {
  readonly id = newId();
  readonly sequence: number;
  readonly plan: SandboxPlan;
  readonly envd: Envd;
  /** Absent for one that was made without security, by the older way. */
  readonly accessToken: string | undefined;
  /** Wanted of requests to its ports when these are not public. */
  readonly trafficToken: string | undefined;
  readonly startedAt: number;
  network: Api["SandboxNetworkConfig"] | undefined;
  allowInternetAccess: boolean | undefined;
  state: "running" | "paused" | "gone" = "running";
  endAt: number;
  /** Last one asked for, in seconds. */
  timeout: number;
  readonly #expired: (sandbox: E2BSandbox) => Promise<void>;
  readonly #open = new Set<{ destroy(): unknown }>();
  #timer: ClockTimer | undefined;

  /**
   * @param sequence Its place among all that was ever made.
   * @param expired Called at its end of life.
   */
  constructor(sequence: number, plan: SandboxPlan, timeout: number, expired: (sandbox: E2BSandbox) => Promise<void>) {
    this.sequence = sequence;
    this.plan = plan;
    this.startedAt = plan.clock.now();
    this.endAt = this.startedAt + timeout * 1000;
    this.timeout = timeout;
    this.network = plan.network;
    this.allowInternetAccess = plan.allowInternetAccess;
    this.accessToken = plan.secure ? randomBytes(32).toString("hex") : undefined;
    this.trafficToken = plan.network?.allowPublicTraffic === false ? randomBytes(32).toString("hex") : undefined;
    this.#expired = expired;
    this.envd = new Envd(this);
    this.#endAt(this.endAt);
  }

  get box(): EmulatedBox {
    return this.plan.box;
  }

  get clock(): Clock {
    return this.plan.clock;
  }

  get quirks(): E2BQuirks {
    return this.plan.quirks;
  }

  /** Moves the end of life to so many seconds from now. */
  setTimeout(seconds: number): void {
    this.timeout = seconds;
    this.#endAt(this.clock.now() + seconds * 1000);
  }

  /** Likewise, but never earlier than it is. */
  extend(seconds: number): void {
    this.timeout = seconds;
    this.#endAt(Math.max(this.endAt, this.clock.now() + seconds * 1000));
  }

  /** An absolute path: relative ones start at home, as does `~`. */
  resolve(path: string): string {
    if (path === "" || path === "~") return this.box.home;
    return posix.resolve(this.box.home, path.startsWith("~/") ? path.slice(2) : path);
  }

  /** What envd gives to every program. */
  environment(user: string): Record<string, string> {
    return {
      HOME: this.box.home,
      USER: user,
      LOGNAME: user,
      E2B_SANDBOX: "true",
      E2B_SANDBOX_ID: this.id,
      E2B_TEMPLATE_ID: this.plan.templateID,
      ...this.plan.envVars,
    };
  }

  /** Breaks this connection when the sandbox goes. */
  track(exchange: Exchange): void {
    this.#open.add(exchange);
    exchange.signal.addEventListener("abort", () => this.#open.delete(exchange));
  }

  /** Likewise of one that has changed protocols. */
  trackSocket(socket: Duplex): void {
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
  }

  /** Stops it where it is; without `memory` its processes end. */
  async pause(memory: boolean): Promise<void> {
    this.state = "paused";
    this.#timer?.cancel();
    this.#hangUp();
    if (memory) await this.box.freeze();
    else await this.box.killAll();
  }

  /** Lets it go on; without `memory` its processes have ended. */
  async resume(memory: boolean, seconds: number): Promise<void> {
    if (!memory) await this.box.killAll();
    else await this.box.thaw();
    this.state = "running";
    this.endAt = this.clock.now();
    this.setTimeout(seconds);
  }

  /** Ends it. */
  async kill(): Promise<void> {
    this.state = "gone";
    this.#timer?.cancel();
    this.#hangUp();
    await this.box.destroy();
  }

  #endAt(time: number): void {
    this.endAt = time;
    this.#timer?.cancel();
    this.#timer = this.clock.at(time, () => this.#expired(this));
  }

  #hangUp(): void {
    for (const connection of this.#open) connection.destroy();
    this.#open.clear();
  }
}
