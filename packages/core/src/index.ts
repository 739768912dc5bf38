/**
 * What programs use, and what a provider is defined by and plans with before it asks anybody. What its sandboxes are
 * made of is in `@sandkit/core/kit`.
 */

export { agentFeatures } from "./agent/agent-features.js";
export { atFirstUse, type FirstUse } from "./at-first-use.js";
export { type BalancedNative, balance } from "./balance/balance.js";
export { type BackendHealth, type BalanceOptions, balanceSettings } from "./balance/balance-options.js";
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
export type { CellOptions, CellResult, Kernel } from "./kernel/kernel.js";
export { AllowList } from "./network/allow-list.js";
export type { Contact } from "./network/contact.js";
export type { EgressPolicy } from "./network/egress-policy.js";
export { egressPolicyOf, type PackageIndexes, pipIndexVariables, publicIndexHosts } from "./network/package-indexes.js";
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
export {
  type AskedPackages,
  type PackageLanguage,
  packageLanguageOf,
  parsePackages,
  pythonEntries,
} from "./packages/parse-packages.js";
export { parseOptions } from "./parse-options.js";
export type { Process, ProcessInfo } from "./process.js";
export type * from "./provider.js";
export { type ChosenTemplate, chooseTemplate, type TemplateTable } from "./remote/choose-template.js";
export { type EgressEntry, egressEntries } from "./remote/egress-entries.js";
export type { Reach } from "./remote/network-plan.js";
export { type MachinePlan, type PlanWords, planMachine } from "./remote/plan-machine.js";
export { exitStatus } from "./result.js";
export type { Command, Sandbox } from "./sandbox.js";
export { type ProviderWork, workingLater } from "./working-later.js";
export * as z from "./zod.js";
