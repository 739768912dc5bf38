import * as z from "zod";
import { invalid } from "../result/error-result.js";
import { introduction } from "../result/introduction.js";
import { defineTool, sandboxId } from "./tool.js";

export const snapshotTool = defineTool({
  name: "snapshot",
  description: () => "Keep a sandbox as it is now; create_sandbox starts others from the id.",
  input: (context) =>
    z.strictObject({
      sandbox_id: sandboxId(context),
      remove: z.string().min(1).meta({ description: "A snapshot to remove instead" }).optional(),
    }),
  annotations: () => ({ readOnlyHint: false, destructiveHint: true, openWorldHint: false }),
  check({ sandbox_id, remove }) {
    if (sandbox_id === undefined || remove === undefined) return;
    throw invalid("snapshot: pass sandbox_id to take one, or remove to remove one, not both");
  },
  act: ({ remove }) => ({
    act: remove === undefined ? "keep a copy of a sandbox" : "remove a snapshot",
    changes: true,
  }),
  async run({ sandbox_id, remove }, { sandboxes, snapshots, making }) {
    if (remove !== undefined) {
      const removed = await snapshots.remove(remove);
      const text = removed ? `Snapshot ${remove} is removed.` : "It was gone already.";
      return { content: [{ type: "text", text }], structuredContent: { snapshot: remove, removed } };
    }
    const used = await sandboxes.use(sandbox_id, making, (sandbox) => snapshots.take(sandbox));
    const { handle: snapshot, id } = used.result;
    return {
      content: [{ type: "text", text: `snapshot: ${snapshot}${introduction(used)}` }],
      structuredContent: { snapshot, ref: id, sandbox_id: used.handle },
    };
  },
});
