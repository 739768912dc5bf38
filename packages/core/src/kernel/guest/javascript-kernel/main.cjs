const { Control } = require("./control.cjs");
const { Evaluator } = require("./evaluator.cjs");
const { Kernel } = require("./kernel.cjs");
const streams = require("./streams.cjs");

/** Sets the interpreter up and serves cells. */
function run({ reader, early }) {
  // Programs of the user must not start with the options of this one.
  process.execArgv = [];
  process._eval = undefined;
  streams.install();
  const control = new Control(reader, early);
  new Kernel(control, new Evaluator()).serve();
}

module.exports = { run };
