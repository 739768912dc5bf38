import type { CellError, MimeBundle, ProviderCell } from "../provider.js";
import { parseModestJson } from "./modest-json.js";

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

type Fields = Readonly<Record<string, unknown>>;

const mimeType = /^[\w.+-]+\/[\w.+-]+(;[\w.+=;-]*)?$/;

/**
 * Reads one line of a driver. The guest can forge it, so that nothing of it is taken over but what is asked for.
 * @throws Error that says what is wrong with it
 */
export function readKernelMessage(line: string): KernelMessage {
  const message = fields(parseModestJson(line), "a message");
  if (message.ready === true) return { kind: "ready" };
  const { id } = message;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) throw new Error("a message has no id of a cell");
  if (message.started === true) return { kind: "started", id };
  if (Object.hasOwn(message, "display")) return { kind: "display", id, bundle: readBundle(message.display) };
  if (Object.hasOwn(message, "done")) return { kind: "done", id, cell: readCell(message.done) };
  throw new Error("a message is of no known kind");
}

function readBundle(value: unknown): MimeBundle {
  const forms = Object.entries(fields(value, "a display")).filter(([mime]) => mimeType.test(mime));
  return Object.fromEntries(forms);
}

function readCell(value: unknown): Omit<ProviderCell, "outputs"> {
  const done = fields(value, "the end of a cell");
  const { exitCode } = done;
  if (typeof exitCode !== "number" || !Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) {
    throw new Error("a cell ended without an exit code from 0 to 255");
  }
  return {
    exitCode,
    ...(done.value === undefined ? {} : { value: done.value }),
    ...(done.error === undefined ? {} : { error: readError(done.error) }),
  };
}

function readError(value: unknown): CellError {
  const { name, message, traceback } = fields(value, "the error of a cell");
  if (typeof name !== "string" || typeof message !== "string" || typeof traceback !== "string") {
    throw new Error("the error of a cell has no name, message and traceback");
  }
  return { name, message, traceback };
}

function fields(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Fields;
}
