import type { DaytonaConfiguration } from "@daytona/api-client";
import type { Handler } from "../../http/route-table.js";
import { generalSnapshots } from "./starting-point.js";

/** What the service tells of itself. */
export function configRoutes(toolboxProxyUrl: () => string): Record<string, Handler> {
  return {
    "GET /config": (exchange) => {
      const configuration: DaytonaConfiguration = {
        version: "0.190.0",
        oidc: { provider: "auth0", issuer: "", clientId: "", audience: "" },
        linkedAccountsEnabled: false,
        announcements: {},
        proxyTemplateUrl: "",
        proxyToolboxUrl: toolboxProxyUrl(),
        defaultSnapshot: generalSnapshots[0],
        dashboardUrl: "",
        maxAutoArchiveInterval: 43_200,
        maintananceMode: false,
        environment: "emulator",
      };
      return exchange.json(200, configuration);
    },
  };
}
