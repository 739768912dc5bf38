/** The thread that listens to the host while cells keep the main thread busy, and stops them. */
const { Socket } = require("node:net");
const { Session } = require("node:inspector");
const { parentPort, workerData } = require("node:worker_threads");

const { phases, early, state } = workerData;
/** How long the event loop of the main thread may take to see an interrupt before what runs in it is terminated. */
const patienceMs = 30;
const retryMs = 10;
const turnsPerTry = 5;
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
  Atomics.store(state, 1, lastCell);
  Atomics.store(state, 0, phases.running);
  parentPort.postMessage({ cell: line });
}

function interrupt(id) {
  if (!move(id, phases.running, phases.interrupting)) return;
  // As Ctrl+C in a terminal: programs that the cell waits for end too. The main thread has a handler.
  process.kill(0, "SIGINT");
  parentPort.postMessage({ cancel: id });
  setTimeout(() => {
    if (move(id, phases.interrupting, phases.terminating)) terminate(id);
  }, patienceMs);
}

/** Ends what runs in the main thread, until that has seen it. */
function terminate(id) {
  let ended = false;
  let spent = true;
  const stop = () =>
    main.post("Runtime.terminateExecution", (error) => {
      ended ||= !error;
    });
  const spend = () => {
    spent = false;
    main.post("Runtime.evaluate", { expression: "0" }, (error, answer) => {
      spent = true;
      // What evaluates to its end is not being terminated: the answer to the request itself may have been lost.
      ended ||= !error && answer.result.value === 0;
    });
  };
  const settle = (turn) => {
    if (ended && spent) {
      move(id, phases.terminating, phases.settled);
      confirm(id);
      return;
    }
    // An answer may be lost with what was terminated; a program may have been started that the main thread waits for.
    const again = turn % turnsPerTry === 0;
    if (again) process.kill(0, "SIGINT");
    if (again && !ended) stop();
    // Where nothing runs any more, the first thing that comes is ended: this.
    if (again || (spent && !ended)) spend();
    setTimeout(settle, retryMs, turn + 1);
  };
  stop();
  setTimeout(settle, retryMs, 1);
}

/** It may have ended another thing than the cell's. */
function confirm(id) {
  parentPort.postMessage({ cancel: id });
  setTimeout(() => {
    if (!move(id, phases.settled, phases.terminating)) return;
    process.kill(0, "SIGINT");
    terminate(id);
  }, patienceMs);
}

function move(id, from, to) {
  return id === lastCell && Atomics.compareExchange(state, 0, from, to) === from;
}

take(Buffer.from(early));
const host = new Socket({ fd: 3, readable: true, writable: false });
host.on("data", take);
// The host has gone.
for (const event of ["end", "error", "close"]) host.on(event, () => process.kill(process.pid, "SIGKILL"));
