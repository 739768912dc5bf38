export { type AddressScope, AllowList } from "./allow-list.js";
export { BoxNetwork } from "./box-network.js";
export type { Contact, ContactProtocol } from "./contact.js";
export type { EgressLimits } from "./egress-limits.js";
export type { EgressPolicy } from "./egress-policy.js";
export { EgressProxy, type EgressProxyOptions } from "./egress-proxy.js";
export { type GuardedLookups, guardedLookups, type LookupSeams, type Resolve } from "./guarded-lookup.js";
export {
  failureOf,
  type NetworkErrno,
  NetworkError,
  type NetworkFailure,
  notListed,
} from "./network-error.js";
export { isPublicAddress } from "./public-address.js";
export { bare, entryFor, type Target, targetOf } from "./target.js";
