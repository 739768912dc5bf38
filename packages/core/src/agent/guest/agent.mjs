/**
 * The guest agent for boxes that have Node and no Python. protocol.ts says what it does. Arguments: `--uid` and
 * `--gid` name the user to become, when it is started as root with the two capabilities for that; each `--open` a
 * directory that this user is to write to, and that an engine may have made root's.
 */
import { parseArgs } from "node:util";
import { Agent } from "./node/agent.mjs";
import { becomeUser, openToAll } from "./node/identity.mjs";

const failed = 70;

function start() {
  const open = { type: "string", multiple: true, default: [] };
  const { values } = parseArgs({ options: { uid: { type: "string" }, gid: { type: "string" }, open } });
  const [uid, gid] = [values.uid, values.gid].map((value) => (value === undefined ? undefined : Number(value)));
  const asUser = uid !== undefined || gid !== undefined;
  if (asUser && !(Number.isInteger(uid) && Number.isInteger(gid))) throw new Error("--uid and --gid go together");
  // Before a byte is read, and before there is a thread that would keep what this gives up.
  if (asUser) {
    openToAll(values.open);
    becomeUser(uid, gid);
  }
  process.umask(0o022);
  // In a box of its own, what is under init and not known is an orphan of some program.
  const agent = new Agent(asUser && process.ppid <= 1);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => agent.end("shutdown", `the agent got ${signal}`));
  }
  // Node would open its debugger to every program of the box.
  process.on("SIGUSR1", () => undefined);
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error) => agent.end("protocol", `the agent failed: ${error?.stack ?? error}`));
  }
}

try {
  start();
} catch (error) {
  process.stderr.write(`sandkit agent: ${error.message}\n`);
  process.exit(failed);
}
