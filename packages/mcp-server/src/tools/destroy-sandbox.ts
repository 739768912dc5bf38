import * as z from "zod";
import { defineTool } from "./tool.js";

export const destroySandbox = defineTool({
  name: "destroy_sandbox",
  description: () => "End a sandbox: its files, variables and programs are gone.",
  input: () => z.strictObject({ sandbox_id: z.string().min(1) }),
  annotations: () => ({ readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }),
  act: () => ({ act: "end a sandbox", changes: true }),
  async run(input, call) {
    const destroyed = await call.sandboxes.destroy(input.sandbox_id);
    const text = destroyed ? `Sandbox ${input.sandbox_id} is destroyed.` : "It was gone already.";
    return {
      content: [{ type: "text", text }],
      structuredContent: { sandbox_id: input.sandbox_id, destroyed },
    };
  },
});
