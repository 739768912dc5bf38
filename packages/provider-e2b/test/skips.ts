/** What cannot be shown at E2B, by the id of the case. */
export const listSkip = {
  "network.allowlist": "E2B's lists of hosts have no ports, and this server listens on one: that is UNSUPPORTED",
  "files.watch.recursive":
    "E2B's envd tells that a directory was made, and not of what was made in it before it looked",
  "files.watch.end": "E2B's envd goes on watching a directory that is gone",
};
