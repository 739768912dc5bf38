/** What cannot be shown at E2B, by the id of the case. */
export const listSkip = {
  "network.allowlist": "E2B's lists of hosts have no ports, and this server listens on one: that is UNSUPPORTED",
};
