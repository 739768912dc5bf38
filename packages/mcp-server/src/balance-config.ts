import * as z from "zod";

const name = z.string().min(1, "must not be empty");

/** `options` of the provider "balance" in a config. */
export const balanceSchema = z.strictObject({
  backends: z
    .record(name, z.strictObject({ provider: name, options: z.record(z.string(), z.unknown()).default({}) }))
    .meta({ description: "By the name that stands in the ids of their sandboxes: each a provider with its options." }),
  policy: z
    .enum(["priority", "least-sessions"])
    .meta({ description: "Who is asked first: in the order above (priority), or who holds the fewest." })
    .optional(),
  affinity: name.meta({ description: "Name of a label whose value keeps sandboxes at the same backend." }).optional(),
  failures: z.int().min(1).meta({ description: "Failures in a row that take a backend out; default 3." }).optional(),
  recheckMs: z.int().min(1).meta({ description: "Until it is asked again, in ms; default 15000." }).optional(),
});
