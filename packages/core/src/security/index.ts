export type { OwnedProgram } from "./probe.js";
export {
  type CheckName,
  checkTitles,
  type Finding,
  type Outcome,
  type SecurityReport,
  type Severity,
} from "./report.js";
export { runSecurityChecks, type SecurityOptions } from "./run-security-checks.js";
