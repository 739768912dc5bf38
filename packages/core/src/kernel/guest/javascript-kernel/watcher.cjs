// A thread of the JavaScript kernel: reads what the host says, also while a cell keeps the main thread busy.
const { Session } = require("node:inspector");
const { Socket } = require("node:net");
const { parentPort } = require("node:worker_threads");

const commands = 3;
/** A main thread that has not answered by then is running something. */
const busyMs = 15;

const session = new Session();
session.connectToMainThread();
let answered = 0;
let rest = [];

parentPort.on("message", (id) => {
  answered = Math.max(answered, id);
});

/** A pending await is given up by the main thread; code that keeps it busy is terminated first, as often as it takes. */
function interrupt(id) {
  parentPort.postMessage({ interrupt: id });
  const insist = () => {
    if (answered >= id) return;
    session.post("Runtime.terminateExecution", () => undefined);
    setTimeout(insist, busyMs * 10);
  };
  setTimeout(insist, busyMs);
}

const input = new Socket({ fd: commands, readable: true, writable: false });
input.on("data", (bytes) => {
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const message = JSON.parse(Buffer.concat([...rest, bytes.subarray(start, end)]).toString());
    rest = [];
    start = end + 1;
    if (message.interrupt === undefined) parentPort.postMessage(message);
    else interrupt(message.interrupt);
  }
  if (start < bytes.length) rest.push(bytes.subarray(start));
});
// Without its host an interpreter has no purpose.
input.on("close", () => process.kill(process.pid, "SIGKILL"));
input.on("error", () => undefined);
parentPort.postMessage({ ready: true });
