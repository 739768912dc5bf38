export { BoxProcess } from "./box-process.js";
export { Clock } from "./clock.js";
export type { CloudOptions } from "./cloud-options.js";
export type { DaytonaOptions } from "./daytona/options.js";
export { type DaytonaQuirks, faithfulQuirks } from "./daytona/quirks.js";
export { type DaytonaEmulator, startDaytona } from "./daytona/start-daytona.js";
export { EmulatedBox } from "./emulated-box.js";
export { type Fault, type FaultRule, Faults } from "./faults.js";
export { type LoggedRequest, RequestLog } from "./request-log.js";
