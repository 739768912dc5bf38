import * as z from "zod";
import { defineTool } from "./tool.js";

export const listSandboxes = defineTool({
  name: "list_sandboxes",
  description: () => "List your living sandboxes.",
  input: () => z.strictObject({}),
  annotations: () => ({ readOnlyHint: true, openWorldHint: false }),
  act: () => ({ act: "list its sandboxes", changes: false }),
  async run(_input, call) {
    const running = call.runs.list().filter((run) => run.outcome === undefined);
    const sandboxes = (await call.sandboxes.list()).map(({ handle, isDefault, info }) => ({
      sandbox_id: handle,
      default: isDefault,
      provider: info.ref.provider,
      state: info.state,
      created_at: info.createdAt.toISOString(),
      processes: running.filter((run) => run.handle === handle).map(({ id }) => id),
      ...(info.expiresAt === undefined ? {} : { expires_at: info.expiresAt.toISOString() }),
    }));
    const lines = sandboxes.map(
      (sandbox) =>
        `${sandbox.sandbox_id}${sandbox.default ? " (default)" : ""}: ${sandbox.provider}, ${sandbox.state}, since ${sandbox.created_at}${sandbox.processes.length === 0 ? "" : `, running ${sandbox.processes.join(", ")}`}`,
    );
    const none = "No sandbox is alive. One is made by the first call that needs it.";
    return { content: [{ type: "text", text: lines.join("\n") || none }], structuredContent: { sandboxes } };
  },
});
