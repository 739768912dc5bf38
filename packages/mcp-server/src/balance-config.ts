import { balanceSettings } from "@sandkit/core";
import * as z from "zod";

const name = z.string().min(1, "must not be empty");

/** `options` of the provider "balance" in a config. */
export const balanceSchema = z.strictObject({
  backends: z
    .record(name, z.strictObject({ provider: name, options: z.record(z.string(), z.unknown()).default({}) }))
    .meta({ description: "By the name that stands in the ids of their sandboxes: each a provider with its options." }),
  ...balanceSettings().shape,
});
