import { isAbsolute } from "node:path";
import * as z from "zod";

/** The key `audit` of the config. */
export const auditSettings = z.strictObject({
  to: z
    .string()
    .refine((text) => text === "stderr" || isAbsolute(text), 'must be "stderr" or the absolute path of a file')
    .meta({ description: 'A file that lines of JSON are added to, or "stderr".' }),
  required: z
    .boolean()
    .meta({ description: "Whether a call that cannot be recorded is refused; default: it goes on, with a warning." })
    .default(false),
});

export type AuditSettings = z.infer<typeof auditSettings>;
