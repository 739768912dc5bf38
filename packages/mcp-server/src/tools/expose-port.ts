import * as z from "zod";
import { introduction } from "../result/introduction.js";
import { defineTool, sandboxId, waitSeconds } from "./tool.js";

/** How long a server in the sandbox may take until it answers, in seconds. */
const usualWaitSeconds = 10;

export const exposePort = defineTool({
  name: "expose_port",
  description: () => "Give a server that listens in a sandbox an address outside.",
  input: (context) =>
    z.strictObject({
      port: z.int().min(1).max(65_535),
      wait_s: waitSeconds(context, `Seconds until it listens, default ${usualWaitSeconds}`),
      sandbox_id: sandboxId(context),
    }),
  annotations: () => ({ readOnlyHint: false, destructiveHint: false, openWorldHint: true }),
  act: ({ port }) => ({ act: `make port ${port} reachable from outside`, changes: true }),
  async run({ port, wait_s: wait = usualWaitSeconds, sandbox_id: id }, call) {
    const used = await call.sandboxes.use(id, call.making, (sandbox) => sandbox.port(port, { waitMs: wait * 1000 }));
    const { url, headers = {}, expiresAt } = used.result;
    const lines = [
      `Port ${port} is at ${url}`,
      ...Object.entries(headers).map(([name, value]) => `send with every request: ${name}: ${value}`),
      ...(expiresAt === undefined ? [] : [`until ${expiresAt.toISOString()}`]),
    ];
    return {
      content: [{ type: "text", text: lines.join("\n") + introduction(used) }],
      _meta: { "sandkit/run": { sandbox: used.handle } },
    };
  },
});
