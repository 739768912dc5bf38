import type { MimeBundle, ProviderCell } from "../provider.js";
import { parseModestJson, readBundle, readCellEnd, readFields } from "./cell-report.js";

/**
 * What a driver writes on descriptor 4, one line of JSON each:
 * - `{"ready":true}`, once;
 * - `{"id":n,"started":true}`: a signal would interrupt the cell from now on (drivers that are interrupted by one);
 * - `{"id":n,"display":{mime: form}}`, for everything that the cell displays, its value last;
 * - `{"id":n,"done":{"exitCode":n,"value":…,"error":{"name","message","traceback"}}}`, once for each cell.
 */
export type KernelMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "started"; readonly id: number }
  | { readonly kind: "display"; readonly id: number; readonly bundle: MimeBundle }
  | { readonly kind: "done"; readonly id: number; readonly cell: Omit<ProviderCell, "outputs"> };

/**
 * Reads one line of a driver. The guest can forge it, so that nothing of it is taken over but what is asked for.
 * @throws Error that says what is wrong with it
 */
export function readKernelMessage(line: string): KernelMessage {
  const message = readFields(parseModestJson(line), "a message");
  if (message.ready === true) return { kind: "ready" };
  const { id } = message;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) throw new Error("a message has no id of a cell");
  if (message.started === true) return { kind: "started", id };
  if (Object.hasOwn(message, "display")) return { kind: "display", id, bundle: readBundle(message.display) };
  if (Object.hasOwn(message, "done")) return { kind: "done", id, cell: readCellEnd(message.done) };
  throw new Error("a message is of no known kind");
}
