import { randomUUID } from "node:crypto";
import type { CreateContextRequest } from "@daytona/toolbox-api-client";
import { daemonFailure } from "../api-failure.js";
import type { ToolboxHandler } from "./toolbox-routes.js";

/** `/process/interpreter`, all but what goes over WebSockets. */
export const interpreterRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "POST /process/interpreter/context": async (toolbox, exchange) => {
    const { cwd, language = "python" } = await exchange.readJson<CreateContextRequest>();
    if (language !== "python") throw daemonFailure(400, `unsupported language: ${language}`);
    return (await toolbox.createInterpreter(randomUUID(), toolbox.path(cwd ?? "."))).info;
  },
  "GET /process/interpreter/context": (toolbox) => ({
    contexts: [...toolbox.interpreters.values()].map(({ info }) => info),
  }),
  "DELETE /process/interpreter/context/:context": async (toolbox, exchange, { context = "" }) => {
    if (context === "default") throw daemonFailure(400, "cannot delete the default context");
    const found = toolbox.interpreters.get(context);
    if (!found) throw daemonFailure(404, `context not found: ${context}`);
    toolbox.interpreters.delete(context);
    await found.kill();
    await exchange.bytes(204, undefined);
  },
};
