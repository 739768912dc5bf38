import { createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { wasm } from "../src/index.js";

/** A shared library by hand: it imports the address of a function of the interpreter and of one of its data. */
const library = `
import ctypes

def sized(data): return bytes([len(data)]) + data
def text(value): return sized(value.encode())
def section(number, body): return bytes([number]) + sized(body)
def items(*parts): return bytes([len(parts)]) + b"".join(parts)

memory = bytes([1, 4, 0, 0, 0, 0])
functions = [b"\\x60\\x00\\x01\\x7f"]
imports = [text("GOT.func") + text(FUNCTION) + b"\\x03\\x7f\\x01", text("GOT.mem") + text("PyExc_ValueError") + b"\\x03\\x7f\\x01"]
exports = [text("function") + b"\\x00\\x00", text("data") + b"\\x00\\x01", text("PyLong_AsLong") + b"\\x00\\x00"]
bodies = [sized(b"\\x00\\x23\\x00\\x0b"), sized(b"\\x00\\x23\\x01\\x0b")]
module = b"\\0asm\\x01\\0\\0\\0" + section(0, text("dylink.0") + memory) + section(1, items(*functions))
module += section(2, items(*imports)) + section(3, items(b"\\0", b"\\0")) + section(7, items(*exports)) + section(10, items(*bodies))
open(PATH, "wb").write(module)
side = ctypes.CDLL(PATH)
`;

it("extensions find the functions and the data of the interpreter, and do not replace them", async () => {
  const sandbox = await createSandbox(wasm(), {});
  const load = (path: string, name: string) => `PATH, FUNCTION = "${path}", "${name}"\n${library}`;
  const { value, error } = await sandbox.runCode(
    `${load("/tmp/one.so", "PyLong_FromLong")}
make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_long)(side.function())
first = side.function()
error = ctypes.py_object.from_address(side.data()).value
${load("/tmp/two.so", "PyLong_FromLong")}
again = side.function() == first
${load("/tmp/three.so", "PyLong_AsLong")}
read = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.py_object)(side.function())
[make(12345), error is ValueError, again, read(678)]`,
  );
  expect(error?.traceback).toBeUndefined();
  expect(value).toEqual([12345, true, true, 678]);
  await sandbox.destroy();
});
