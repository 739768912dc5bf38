import * as z from "zod";
import { defineTool, packageNames } from "./tool.js";

const snapshot = { snapshot: z.string().min(1).optional() };
/** Without the tool that gives their ids every call names none. */
const none = {} as typeof snapshot;

export const createSandbox = defineTool({
  name: "create_sandbox",
  description: ({ idleSeconds }) =>
    `Make another sandbox, apart from the others; pass its sandbox_id to the tools. It ends after ${idleSeconds} s without use.`,
  input: (context) =>
    z.strictObject({
      template: z
        .string()
        .min(1)
        .meta({ description: `Starting image, default ${context.config.defaults.template ?? "python"}` })
        .optional(),
      ...(context.surface.optional.includes("snapshot") ? snapshot : none),
      ...packageNames(context, "Python packages to have from the beginning"),
    }),
  annotations: ({ openWorld, fetchesPackages }) => ({
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: openWorld || fetchesPackages,
  }),
  act: () => ({ act: "make a sandbox", changes: true }),
  async run(input, call) {
    const { handle, sandbox } = await call.sandboxes.create({
      ...call.making,
      template: input.template,
      packages: input.packages,
      snapshot: input.snapshot,
    });
    const description = await sandbox.describe();
    return {
      content: [{ type: "text", text: `sandbox_id: ${handle}\n${description}` }],
      structuredContent: {
        sandbox_id: handle,
        provider: sandbox.ref.provider,
        ref: sandbox.ref,
        isolation: sandbox.capabilities.isolation,
        workdir: sandbox.workdir,
        description,
      },
    };
  },
});
