/**
 * What the sandboxes of a provider are made of: the agent's session, sandboxes at clouds, pools, names, owners. A
 * provider loads it for its first sandbox, so that to import one costs next to nothing.
 */

export {
  type AgentSession,
  type AgentSessionOptions,
  agentSession,
  type ServedNetwork,
} from "./agent/agent-session.js";
export type { Channel } from "./agent/channel.js";
export { type ErrnoContext, fromErrno } from "./agent/errno.js";
export {
  type AgentRuntime,
  type AttachedAgent,
  agentCommand,
  attachedAgent,
  bridgeCommand,
  proxyPreload,
} from "./agent/guest-source.js";
export { streamChannel } from "./agent/stream-channel.js";
export { keepAlive } from "./keep-alive.js";
export { loadJavaScript, loadTypeScript, type PrepareCell } from "./kernel/javascript-source.js";
export { Once } from "./once.js";
export { ownerLabel, ownerState } from "./owner.js";
export { explainNpm } from "./packages/explain-npm.js";
export { explainPip } from "./packages/explain-pip.js";
export { type PackageFailure, type PackageVerdict, packageError, shownAddress } from "./packages/package-failure.js";
export { readInstaller } from "./packages/read-installer.js";
export { PlainBox, type PlainBoxOptions } from "./plain/plain-box.js";
export type { OutputSink, PlainEnding, PlainExec, PlainPlace, PlainStart } from "./plain/plain-place.js";
export { ProgramMarks } from "./plain/program-marks.js";
export { Pool, type PoolOptions } from "./pool.js";
export type { BoxFacts, Cloud, CloudPlan, Fleet, MachineOrder } from "./remote/cloud.js";
export { CloudSandboxes } from "./remote/cloud-sandboxes.js";
export { type InstallOptions, installPackages } from "./remote/install-packages.js";
export { defaultLeaseMs, Lease, type LeaseOptions } from "./remote/lease.js";
export type { BoxInfo, Machine, MachineState } from "./remote/machine.js";
export type { RemoteSessionOptions } from "./remote/open-agent.js";
export { type AskedPort, openPort } from "./remote/open-port.js";
export { type PausedBox, PausedSession } from "./remote/paused-session.js";
export {
  creationValues,
  decodeRecord,
  encodeRecord,
  labelValues,
  nameValues,
  optionsDigest,
  type RecordValues,
  recordOfCopy,
  type SandboxRecord,
} from "./remote/record.js";
export type { BulkFiles, RemoteBox } from "./remote/remote-box.js";
export { type RemoteSession, remoteSession } from "./remote/remote-session.js";
export type { Terminal, TerminalConnection } from "./remote/terminal.js";
export { type TryAgainOptions, tryAgain, wait, waitBefore } from "./remote/try-again.js";
export { undone } from "./remote/undo.js";
export { fingerprintOf, type SessionFactory, SessionRegistry } from "./session-registry.js";
export { Slots } from "./slots.js";
export { Sweep } from "./sweep.js";
