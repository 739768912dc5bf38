import { z } from "zod";

/** Deepest nesting and most values that a cell's result may hold: what any reader of JSON can take. */
const deepest = 1000;
const mostValues = 4_000_000;

const resultSchema = z.tuple([
  z.object({
    exitCode: z.int().min(0).max(255),
    /** JSON text of the cell's value. */
    value: z.string().optional(),
    outputs: z.array(z.record(z.string(), z.unknown())),
    error: z.object({ name: z.string(), message: z.string(), traceback: z.string() }).optional(),
  }),
]);

/** What the driver says a cell did. The guest can forge it, so that nothing else of it may be relied on. */
export type CellReport = z.output<typeof resultSchema>[0];

/** Reads the arguments of `done`. @throws Error for what no driver sends */
export function readCellResult(args: string): CellReport {
  assertModest(args);
  const parsed = resultSchema.safeParse(JSON.parse(args));
  if (!parsed.success) throw new Error("the result of a cell has another form");
  const [{ value, ...result }] = parsed.data;
  if (value === undefined) return result;
  assertModest(value);
  JSON.parse(value);
  return parsed.data[0];
}

/** Refuses JSON that takes little text and very much memory, or more stack than its readers have. */
function assertModest(json: string): void {
  let [depth, values, inText] = [0, 0, false];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (inText) {
      if (code === codes.backslash) index += 1;
      else inText = code !== codes.quote;
      continue;
    }
    if (code === codes.quote) inText = true;
    else if (code === codes.comma) values += 1;
    else if (code === codes.openArray || code === codes.openObject) {
      depth += 1;
      values += 1;
      if (depth > deepest) throw new Error("the result of a cell is nested too deep");
    } else if (code === codes.closeArray || code === codes.closeObject) depth -= 1;
    if (values > mostValues) throw new Error("the result of a cell has too many parts");
  }
}

const codes = {
  quote: 0x22,
  comma: 0x2c,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;
