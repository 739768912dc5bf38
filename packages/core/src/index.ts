export { agentFeatures } from "./agent/agent-features.js";
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
export { type BalancedNative, balance } from "./balance/balance.js";
export type { BackendHealth, BalanceOptions } from "./balance/balance-options.js";
export {
  type Capabilities,
  capabilities,
  type Feature,
  features,
  type Isolation,
  type Limits,
  requireFeature,
  type Support,
} from "./capabilities.js";
export { type AttachSandboxOptions, attachSandbox, createSandbox } from "./create-sandbox.js";
export { unlessAborted } from "./deadline.js";
export { type Deferred, deferred } from "./deferred.js";
export { defineProvider, type ProviderDefinition } from "./define-provider.js";
export {
  type ErrorCode,
  errorCodes,
  messageOf,
  SandboxError,
  type SandboxErrorDetails,
  toSandboxError,
} from "./errors.js";
export type { Captured, EndReason, ExecResult } from "./exec.js";
export type { Files, ReadFileOptions, WriteFileOptions } from "./files.js";
export type { GitBranch } from "./git/branches.js";
export type { GitDiff, GitFileDiff } from "./git/diff.js";
export type { Git } from "./git/git.js";
export type {
  GitAddOptions,
  GitCloneOptions,
  GitCommitOptions,
  GitCreateBranchOptions,
  GitCredentials,
  GitDiffOptions,
  GitFetchOptions,
  GitForceOptions,
  GitIdentity,
  GitInitOptions,
  GitLogOptions,
  GitPullOptions,
  GitPushOptions,
  GitRemoteOptions,
  GitRunOptions,
} from "./git/git-options.js";
export type { GitCommit, GitSignature } from "./git/log.js";
export type { GitPushedRef } from "./git/push-report.js";
export type { GitChange, GitFileStatus, GitStatus } from "./git/status.js";
export { keepAlive } from "./keep-alive.js";
export { loadJavaScript, loadTypeScript, type PrepareCell } from "./kernel/javascript-source.js";
export type { CellOptions, CellResult, Kernel } from "./kernel/kernel.js";
export { AllowList } from "./network/allow-list.js";
export type { Contact } from "./network/contact.js";
export type { EgressPolicy } from "./network/egress-policy.js";
export { egressPolicyOf, type PackageIndexes, publicIndexHosts } from "./network/package-indexes.js";
export type {
  ApprovalRequest,
  CreateOptions,
  Data,
  ExecOptions,
  KernelRequest,
  Lifetime,
  NetworkPolicy,
  OutputChunk,
  Resources,
  RunCodeOptions,
  RunOptions,
  SpawnProcessOptions,
} from "./options.js";
export { ownerLabel, ownerState } from "./owner.js";
export { explainNpm } from "./packages/explain-npm.js";
export { explainPip } from "./packages/explain-pip.js";
export { type PackageFailure, type PackageVerdict, packageError, shownAddress } from "./packages/package-failure.js";
export {
  type AskedPackages,
  type PackageLanguage,
  packageLanguageOf,
  parsePackages,
  pythonEntries,
} from "./packages/parse-packages.js";
export { readInstaller } from "./packages/read-installer.js";
export { parseOptions } from "./parse-options.js";
export { PlainBox, type PlainBoxOptions } from "./plain/plain-box.js";
export type { OutputSink, PlainEnding, PlainExec, PlainPlace, PlainStart } from "./plain/plain-place.js";
export { ProgramMarks } from "./plain/program-marks.js";
export { Pool, type PoolOptions } from "./pool.js";
export type { Process, ProcessInfo } from "./process.js";
export type * from "./provider.js";
export { type ChosenTemplate, chooseTemplate, type TemplateTable } from "./remote/choose-template.js";
export type { BoxFacts, Cloud, CloudPlan, Fleet, MachineOrder } from "./remote/cloud.js";
export { CloudSandboxes } from "./remote/cloud-sandboxes.js";
export { type EgressEntry, egressEntries } from "./remote/egress-entries.js";
export { type InstallOptions, installPackages } from "./remote/install-packages.js";
export { defaultLeaseMs, Lease, type LeaseOptions } from "./remote/lease.js";
export type { BoxInfo, Machine, MachineState } from "./remote/machine.js";
export type { Reach } from "./remote/network-plan.js";
export type { RemoteSessionOptions } from "./remote/open-agent.js";
export { type AskedPort, openPort } from "./remote/open-port.js";
export { type PausedBox, PausedSession } from "./remote/paused-session.js";
export { type MachinePlan, type PlanWords, planMachine } from "./remote/plan-machine.js";
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
export { exitStatus } from "./result.js";
export type { Command, Sandbox } from "./sandbox.js";
export { fingerprintOf, type SessionFactory, SessionRegistry } from "./session-registry.js";
export { Slots } from "./slots.js";
export { Sweep } from "./sweep.js";
