import type { AgentSession } from "../agent/agent-session.js";
import type { AgentInfo } from "../agent/protocol.js";
import type { SandboxError } from "../errors.js";

/** What is known of a box from inside. */
export type GuestLook = Pick<AgentInfo, "shells" | "interpreters" | "expiresAt">;

/** What a session over a remote box runs things by: the guest agent, or a shell where there is nothing to run one. */
export interface RemoteGuest
  extends Pick<
    AgentSession,
    | "ref"
    | "workdir"
    | "capabilities"
    | "files"
    | "stage"
    | "closed"
    | "failure"
    | "spawn"
    | "kernel"
    | "extend"
    | "touch"
    | "destroy"
  > {
  /** Whether another client still sets the box up. */
  readonly isBeingSetUp: boolean;
  /** Tells other clients that the box is set up. */
  ready(): Promise<void>;
  /** What the box has, as it is now; undefined when the guest is lost. */
  look(): Promise<GuestLook | undefined>;
  /** Leaves the box to itself. What waits is told the reason. */
  leave(reason?: SandboxError): Promise<void>;
}

/** The way to a guest, as far as a pause touches it. */
export interface GuestWay {
  /** Nothing can be heard for now. */
  readonly stalled: boolean;
  /** While the box is copied it may stand still for long: that is no pause, and no reason to give it up. */
  whileCopied<Result>(copy: () => Promise<Result>): Promise<Result>;
  /** Lets go of a box that is about to be paused. */
  suspend(): Promise<void>;
  /** Goes on after a pause. False when nothing of what ran is left. */
  resume(): Promise<boolean>;
}
