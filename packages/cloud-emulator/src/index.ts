export { BoxProcess } from "./box-process.js";
export { Clock } from "./clock.js";
export type { CloudOptions } from "./cloud-options.js";
export type { E2BOptions } from "./e2b/options.js";
export { type E2BQuirks, faithful } from "./e2b/quirks.js";
export { type E2BEmulator, startE2B } from "./e2b/start-e2b.js";
export { EmulatedBox } from "./emulated-box.js";
export { type Fault, type FaultRule, Faults } from "./faults.js";
export { type LoggedRequest, RequestLog } from "./request-log.js";
