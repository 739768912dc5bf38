import * as z from "zod";
import { introduction } from "../result/introduction.js";
import { defineTool, sandboxId } from "./tool.js";

export const snapshotTool = defineTool({
  name: "snapshot",
  description: () => "Keep a sandbox as it is now; create_sandbox starts others from the id.",
  input: (context) => z.strictObject({ sandbox_id: sandboxId(context) }),
  annotations: () => ({ readOnlyHint: false, destructiveHint: false, openWorldHint: false }),
  act: () => ({ act: "keep a copy of a sandbox", changes: true }),
  async run(input, call) {
    const used = await call.sandboxes.use(input.sandbox_id, call.making, (sandbox) => sandbox.snapshot());
    const snapshot = call.sandboxes.sealSnapshot(used.result.id);
    return {
      content: [{ type: "text", text: `snapshot: ${snapshot}${introduction(used)}` }],
      structuredContent: { snapshot, ref: used.result.id, sandbox_id: used.handle },
    };
  },
});
