import type { ProviderCell } from "@sandkit/core";
import { parseModestJson, readBundle, readCellEnd, readFields } from "@sandkit/core/cell-report";

/** Reads the arguments of `done`, in which the cell's value is JSON text. @throws Error for what no driver sends */
export function readCellResult(args: string): ProviderCell {
  const list = parseModestJson(args);
  if (!Array.isArray(list) || list.length !== 1) throw new Error("the result of a cell has another form");
  const { value, outputs, ...rest } = readFields(list[0], "the result of a cell");
  if (!Array.isArray(outputs)) throw new Error("the result of a cell has no list of outputs");
  if (value !== undefined && typeof value !== "string") throw new Error("the value of a cell is no JSON text");
  const end = readCellEnd({ ...rest, value: value === undefined ? undefined : parseModestJson(value) });
  return { ...end, outputs: outputs.map(readBundle) };
}
