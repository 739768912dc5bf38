import type { CreateSnapshot } from "@daytona/api-client";
import type { Handler } from "../../http/route-table.js";
import type { Snapshots } from "./snapshots.js";

/** `/snapshots`. */
export function snapshotRoutes(snapshots: Snapshots): Record<string, Handler> {
  return {
    "POST /snapshots": async (exchange) =>
      exchange.json(200, snapshots.create(await exchange.readJson<CreateSnapshot>())),
    "GET /snapshots": (exchange) => exchange.json(200, snapshots.page(exchange.query)),
    "GET /snapshots/:id": (exchange, { id = "" }) => exchange.json(200, snapshots.get(id).dto),
    "DELETE /snapshots/:id": async (exchange, { id = "" }) => {
      snapshots.remove(id);
      await exchange.bytes(200, undefined);
    },
    "POST /snapshots/:id/activate": (exchange, { id = "" }) => exchange.json(200, snapshots.setActive(id, true)),
    "POST /snapshots/:id/deactivate": async (exchange, { id = "" }) => {
      snapshots.setActive(id, false);
      await exchange.bytes(204, undefined);
    },
  };
}
