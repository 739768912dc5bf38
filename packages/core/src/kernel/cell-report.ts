/**
 * Reads what a kernel's driver says of a cell. The guest can forge all of it, so that nothing is taken over but what is
 * asked for. Also for brokers that are bundled on their own: nothing else of this package comes along.
 */
import type { CellError, MimeBundle, ProviderCell } from "../provider.js";

export { parseModestJson } from "./modest-json.js";

/** A value of JSON whose members are looked at one by one. */
type Fields = Readonly<Record<string, unknown>>;

const mimeType = /^[\w.+-]+\/[\w.+-]+(;[\w.+=;-]*)?$/;

/** The members of an object. @throws Error that names `what` is none */
export function readFields(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Fields;
}

/** One thing displayed; forms whose name is no MIME type are dropped. @throws Error for what is no object */
export function readBundle(value: unknown): MimeBundle {
  const forms = Object.entries(readFields(value, "a display")).filter(([mime]) => mimeType.test(mime));
  return Object.fromEntries(forms);
}

/** How a cell ended. @throws Error that says what is wrong with it */
export function readCellEnd(value: unknown): Omit<ProviderCell, "outputs"> {
  const done = readFields(value, "the end of a cell");
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
  const { name, message, traceback } = readFields(value, "the error of a cell");
  if (typeof name !== "string" || typeof message !== "string" || typeof traceback !== "string") {
    throw new Error("the error of a cell has no name, message and traceback");
  }
  return { name, message, traceback };
}
