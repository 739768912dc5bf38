/** Reads the modules of the driver, one line of JSON on descriptor 3, and starts it. Given to `node -e`. */
// Nothing of it may be seen in cells, which share its scope.
{
  const { readSync } = require("node:fs");
  const { Script } = require("node:vm");

  const chunks = [];
  while (!chunks.at(-1)?.includes(10)) {
    const chunk = Buffer.alloc(1 << 18);
    const length = readSync(3, chunk);
    if (length === 0) process.reallyExit(0);
    chunks.push(chunk.subarray(0, length));
  }
  const received = Buffer.concat(chunks);
  const end = received.indexOf(10);
  const sources = JSON.parse(received.toString("utf8", 0, end));
  const loaded = new Map();

  /** The exports of a module of the driver, whose frames carry names that begin with `sandkit:`. */
  const load = (name) => {
    const known = loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const filename = `sandkit:${name}.cjs`;
    const run = new Script(`(function (require, module) {${sources[name]}\n})`, { filename }).runInThisContext();
    run((id) => (id.startsWith("./") ? load(id.slice("./".length, -".cjs".length)) : require(id)), module);
    return module.exports;
  };

  // Node makes its own modules globals once this has run, over ours.
  setImmediate(() => load("main").run({ reader: sources.reader, early: received.subarray(end + 1) }));
}
