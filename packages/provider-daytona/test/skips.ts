/** What a container at Daytona cannot, by the id of the case. */
export const containerSkips = {
  "lifecycle.pause.processes": "Daytona stops a container, which keeps its files and ends what runs in it",
};

export const listSkip = {
  "network.allowlist": "the case lists a host with a port, and Daytona's lists know no ports: plan-sandbox.test.ts",
};
