/** Where a cell is, in memory that both threads see. Who moves it on has the next word. */
const phases = {
  idle: 0,
  running: 1,
  /** An interrupt has been asked for: the main thread may end the cell, if its event loop turns. */
  interrupting: 2,
  /** It does not turn, so that what runs in it is being terminated: no code of ours may run meanwhile. */
  terminating: 3,
  /** Nothing is left that could terminate anything else. */
  settled: 4,
  /** The main thread tells the host. */
  ending: 5,
};

module.exports = { phases };
