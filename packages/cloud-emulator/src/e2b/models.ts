import type { Api } from "./api-types.js";
import type { E2BSandbox } from "./sandbox.js";

/** What every sandbox is said to have; real sizes are the provider's matter. */
const machine = { cpuCount: 2, memoryMB: 512, diskSizeMB: 10_240 };
const clientID = "6532622b";

/** A sandbox as create, connect and fork answer. */
export function createdSandbox(sandbox: E2BSandbox): Api["Sandbox"] {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.plan.templateID,
    clientID,
    envdVersion: sandbox.quirks.envdVersion,
    ...(sandbox.plan.alias !== undefined && { alias: sandbox.plan.alias }),
    ...(sandbox.accessToken !== undefined && { envdAccessToken: sandbox.accessToken }),
    ...(sandbox.trafficToken !== undefined && { trafficAccessToken: sandbox.trafficToken }),
  };
}

/** A sandbox as the list tells of it. */
export function listedSandbox(sandbox: E2BSandbox): Api["ListedSandbox"] {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.plan.templateID,
    clientID,
    ...machine,
    ...(sandbox.plan.alias !== undefined && { alias: sandbox.plan.alias }),
    envdVersion: sandbox.quirks.envdVersion,
    startedAt: new Date(sandbox.startedAt).toISOString(),
    endAt: new Date(sandbox.endAt).toISOString(),
    state: sandbox.state === "paused" ? "paused" : "running",
    metadata: { ...sandbox.plan.metadata },
  };
}

/** A sandbox in full. */
export function sandboxDetail(sandbox: E2BSandbox): Api["SandboxDetail"] {
  const { onTimeout, autoResume } = sandbox.plan;
  return {
    ...listedSandbox(sandbox),
    ...(sandbox.accessToken !== undefined && { envdAccessToken: sandbox.accessToken }),
    ...(sandbox.network && { network: sandbox.network }),
    ...(sandbox.allowInternetAccess !== undefined && { allowInternetAccess: sandbox.allowInternetAccess }),
    lifecycle: { onTimeout, autoResume },
  };
}
