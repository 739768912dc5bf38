/** The thread that listens to the host while cells keep the main thread busy, and stops them. */
const { Socket } = require("node:net");
const { Session } = require("node:inspector");
const { parentPort, workerData } = require("node:worker_threads");

const { phases, early, state } = workerData;
/** How long the event loop of the main thread may take to see an interrupt before what runs in it is terminated. */
const patienceMs = 10;
const retryMs = 10;
const turnsPerSignal = 5;
const longestInterrupt = 100;

const main = new Session();
main.connectToMainThread();
let chunks = [];
let lastCell = 0;

function take(chunk) {
  let rest = chunk;
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    chunks.push(rest.subarray(0, end));
    const line = Buffer.concat(chunks).toString();
    chunks = [];
    rest = rest.subarray(end + 1);
    follow(line);
  }
  chunks.push(rest);
}

function follow(line) {
  const interrupted = line.length < longestInterrupt ? JSON.parse(line).interrupt : undefined;
  if (interrupted !== undefined) {
    interrupt(interrupted);
    return;
  }
  lastCell = Number(/^\{"id":(\d+)/.exec(line)?.[1]);
  Atomics.store(state, 0, phases.running);
  parentPort.postMessage({ cell: line });
}

function interrupt(id) {
  if (id !== lastCell || !move(phases.running, phases.interrupting)) return;
  // As Ctrl+C in a terminal: programs that the cell waits for end too. The main thread has a handler.
  process.kill(0, "SIGINT");
  parentPort.postMessage({ cancel: id });
  setTimeout(() => {
    if (move(phases.interrupting, phases.terminating)) terminate(id);
  }, patienceMs);
}

/** Ends what runs in the main thread, until that has seen it. */
function terminate(id) {
  let ended = false;
  let spent = true;
  let turns = 0;
  main.post("Runtime.terminateExecution", () => {
    ended = true;
  });
  const settle = () => {
    turns += 1;
    if (ended && spent) {
      move(phases.terminating, phases.settled);
      confirm(id);
      return;
    }
    // A program may have been started since then, and the main thread be waiting for it.
    if (turns % turnsPerSignal === 0) process.kill(0, "SIGINT");
    // Where nothing runs any more, the first thing that comes is ended: this.
    if (spent && !ended && turns > 1) {
      spent = false;
      main.post("Runtime.evaluate", { expression: "0" }, () => {
        spent = true;
      });
    }
    setTimeout(settle, retryMs);
  };
  setTimeout(settle, 1);
}

/** It may have ended another thing than the cell's. */
function confirm(id) {
  parentPort.postMessage({ cancel: id });
  setTimeout(() => {
    if (!move(phases.settled, phases.terminating)) return;
    process.kill(0, "SIGINT");
    terminate(id);
  }, patienceMs * 5);
}

function move(from, to) {
  return Atomics.compareExchange(state, 0, from, to) === from;
}

take(Buffer.from(early));
const host = new Socket({ fd: 3, readable: true, writable: false });
host.on("data", take);
// The host has gone.
for (const event of ["end", "error", "close"]) host.on(event, () => process.kill(process.pid, "SIGKILL"));
