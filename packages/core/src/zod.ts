/**
 * What schemas of provider options are made of: the zod that core has built in, so that a provider that loads core
 * loads it once.
 */

export type { input, ZodType } from "zod";
export { array, boolean, int, lazy, record, strictObject, string, url } from "zod";
