export { conformanceCases } from "./cases/index.js";
export type { ConformanceCase, ConformanceContext } from "./conformance-case.js";
export type { ProgramName, Trait } from "./programs.js";
export { notApplicable } from "./reports.js";
export type { ConformanceTimeouts } from "./run.js";
export { type ConformanceOptions, runConformance } from "./run-conformance.js";
export { type CaseResult, formatScorecard, type Outcome, type Scorecard } from "./scorecard.js";
export type { Skips } from "./selection.js";
export { testProvider } from "./test-provider.js";
