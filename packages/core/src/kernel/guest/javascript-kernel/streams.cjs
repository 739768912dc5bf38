const { Console } = require("node:console");
const { writeSync } = require("node:fs");
const { Writable } = require("node:stream");

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Writes everything, waiting where the reader does. */
function writeAll(descriptor, data) {
  let rest = typeof data === "string" ? Buffer.from(data) : data;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

/** Has what is printed leave at once, in order with what child processes print. */
function install() {
  const streams = { stdout: outputStream(1), stderr: outputStream(2) };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { configurable: true, enumerable: true, writable: true, value });
  }
  // The console of Node also keeps what it is given for a debugger.
  const own = new Console({ ...streams, ignoreErrors: true });
  for (const [name, method] of Object.entries(console)) own[name] ??= method;
  globalThis.console = own;
}

function outputStream(fd) {
  const stream = new Writable({
    decodeStrings: true,
    write(chunk, _encoding, callback) {
      try {
        writeAll(fd, chunk);
        callback();
      } catch (error) {
        callback(error);
      }
    },
    destroy(_error, callback) {
      // As with the streams of Node, nothing closes it.
      callback();
    },
  });
  // Nobody may be reading any more.
  stream.on("error", () => undefined);
  return Object.assign(stream, { fd, isTTY: false });
}

module.exports = { install, writeAll };
