/**
 * What a provider reads its options with, and those of a create, before it asks anybody: schemas, lists of hosts, lists
 * of packages, plans for machines at clouds.
 */

export { AllowList } from "./network/allow-list.js";
export { egressPolicyOf, type PackageIndexes, publicIndexHosts } from "./network/package-indexes.js";
export {
  type AskedPackages,
  type PackageLanguage,
  packageLanguageOf,
  parsePackages,
  pythonEntries,
} from "./packages/parse-packages.js";
export { parseOptions } from "./parse-options.js";
export { type ChosenTemplate, chooseTemplate, type TemplateTable } from "./remote/choose-template.js";
export { type EgressEntry, egressEntries } from "./remote/egress-entries.js";
export type { Reach } from "./remote/network-plan.js";
export { type MachinePlan, type PlanWords, planMachine } from "./remote/plan-machine.js";
export * as z from "./zod.js";
