import { z } from "@sandkit/core";

/** One archive that is wanted in a sandbox. Plain data: it is noted in the cache. */
export const pinSchema = z.strictObject({
  kind: z.enum(["wheel", "library"]),
  /** Normalised. */
  name: z.string(),
  version: z.string(),
  filename: z.string(),
  /** Absent for wheels of the local directory, which are trusted as they are. */
  sha256: z.optional(z.string()),
  origin: z.discriminatedUnion("from", [
    z.strictObject({ from: z.literal("directory"), path: z.string() }),
    z.strictObject({ from: z.literal("web"), url: z.url() }),
  ]),
});

/** One archive that is wanted in a sandbox. */
export type Pin = Readonly<z.output<typeof pinSchema>>;
