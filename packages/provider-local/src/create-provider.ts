import type { Provider } from "@sandkit/core";
import * as z from "zod";
import { type LocalOptions, local } from "./provider.js";

/** What a config may say about this provider. */
export const optionsSchema: z.ZodType<LocalOptions> = z.strictObject({
  python: z.string().min(1).optional(),
  agent: z.enum(["python", "node"]).optional(),
});

/** How a config's provider is made, by the name of this package. */
export function createProvider(options: LocalOptions): Provider {
  return local(options);
}
