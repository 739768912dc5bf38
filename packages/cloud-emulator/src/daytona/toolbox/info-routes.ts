import type { SystemMetrics, UpdateEnvRequest } from "@daytona/toolbox-api-client";
import { measure } from "../../box-metrics.js";
import { listeningPorts } from "./listening-ports.js";
import type { ToolboxHandler } from "./toolbox-routes.js";

/** What the program in a sandbox tells of it. */
export const infoRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "GET /version": () => ({ version: "0.190.0" }),
  "GET /work-dir": (toolbox) => ({ dir: toolbox.workdir }),
  "GET /user-home-dir": (toolbox) => ({ dir: toolbox.box.home }),
  "GET /system/metrics": async (toolbox): Promise<SystemMetrics> => {
    const now = new Date();
    const metrics = await measure(toolbox.box, now.getTime());
    return {
      cpuCount: metrics.cpu_count,
      cpuUsedPct: metrics.cpu_used_pct,
      memTotal: metrics.mem_total,
      memUsed: metrics.mem_used,
      memCache: metrics.mem_cache,
      diskTotal: metrics.disk_total,
      diskUsed: metrics.disk_used,
      diskFree: metrics.disk_total - metrics.disk_used,
      timestamp: now.toISOString(),
      timestampUnix: metrics.ts,
    };
  },
  "POST /env": async (toolbox, exchange) => {
    toolbox.updateEnv(await exchange.readJson<UpdateEnvRequest>());
    await exchange.bytes(204, undefined);
  },
  "GET /port": async (toolbox) => ({ ports: await listeningPorts(toolbox.box) }),
  "GET /port/:port/in-use": async (toolbox, _exchange, { port }) => ({
    isInUse: (await listeningPorts(toolbox.box)).includes(Number(port)),
  }),
};
