/** The parts of zod's smaller half that schemas of providers are made of. Core has them built in: they load once. */

import type * as mini from "zod/mini";

export {
  array,
  boolean,
  custom,
  describe,
  discriminatedUnion,
  enum,
  gte,
  int,
  lazy,
  literal,
  lte,
  maxLength,
  minLength,
  number,
  object,
  optional,
  positive,
  record,
  refine,
  regex,
  strictObject,
  string,
  superRefine,
  union,
  url,
} from "zod/mini";

/** What a schema takes. */
export type input<Schema extends mini.ZodMiniType> = mini.input<Schema>;
/** What it makes of that. */
export type output<Schema extends mini.ZodMiniType> = mini.output<Schema>;
