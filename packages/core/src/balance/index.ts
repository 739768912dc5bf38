export { type BalancedNative, balance } from "./balance.js";
export type { BackendHealth, BalanceOptions } from "./balance-options.js";
