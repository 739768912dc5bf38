import type { Exchange } from "../../http/exchange.js";
import type { Handler, RouteParameters } from "../../http/route-table.js";
import { fileRoutes } from "./file-routes.js";
import { gitRoutes } from "./git-routes.js";
import { infoRoutes } from "./info-routes.js";
import { interpreterRoutes } from "./interpreter-routes.js";
import { processRoutes } from "./process-routes.js";
import type { Toolbox } from "./toolbox.js";

/** Answers one kind of request to the program in a sandbox: what it gives is the body, if it has not answered. */
export type ToolboxHandler = (toolbox: Toolbox, exchange: Exchange, parameters: RouteParameters) => unknown;

const routes: Readonly<Record<string, ToolboxHandler>> = {
  ...processRoutes,
  ...interpreterRoutes,
  ...fileRoutes,
  ...gitRoutes,
  ...infoRoutes,
};

/** The routes of the programs in all sandboxes, below `prefix`, which names the sandbox by `:id`. */
export function toolboxRoutes(
  prefix: string,
  reach: (id: string, exchange: Exchange) => Toolbox,
): Record<string, Handler> {
  const wrap =
    (handler: ToolboxHandler): Handler =>
    async (exchange, parameters) => {
      const toolbox = reach(parameters.id ?? "", exchange);
      const release = toolbox.hold(exchange);
      try {
        const answer = await handler(toolbox, exchange, parameters);
        if (!exchange.started) await exchange.json(200, answer);
      } finally {
        release();
      }
    };
  return Object.fromEntries(
    Object.entries(routes).map(([pattern, handler]) => {
      const [method, path] = pattern.split(" ");
      return [`${method} ${prefix}${path}`, wrap(handler)];
    }),
  );
}
