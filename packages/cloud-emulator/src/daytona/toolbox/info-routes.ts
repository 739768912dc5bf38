import type { UpdateEnvRequest } from "@daytona/toolbox-api-client";
import { listeningPorts } from "./listening-ports.js";
import type { ToolboxHandler } from "./toolbox-routes.js";

/** What the program in a sandbox tells of it. */
export const infoRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "GET /version": () => ({ version: "0.190.0" }),
  "GET /work-dir": (toolbox) => ({ dir: toolbox.workdir }),
  "GET /user-home-dir": (toolbox) => ({ dir: toolbox.box.home }),
  "POST /env": async (toolbox, exchange) => {
    toolbox.updateEnv(await exchange.readJson<UpdateEnvRequest>());
    await exchange.bytes(204, undefined);
  },
  "GET /port": async (toolbox) => ({ ports: await listeningPorts(toolbox.box) }),
  "GET /port/:port/in-use": async (toolbox, _exchange, { port }) => ({
    isInUse: (await listeningPorts(toolbox.box)).includes(Number(port)),
  }),
};
