import { spawn } from "node:child_process";
import { Agent } from "node:http";
import { Duplex } from "node:stream";
import { type SshTarget, sshArguments } from "./ssh-target.js";

/** Kept of what ssh says, for the error that needs it. */
const maxWordsLength = 4_096;
/** Connections kept for the next call: each is a process here and one there. */
const keptConnections = 4;

/** ssh ended without leading anywhere, or in the middle. */
export class SshFailure extends Error {
  readonly code = "ESSH";
  override readonly name = "SshFailure";
}

/** Connections to an engine for `node:http`, each a process of ssh's own: closing one ends it, which nobody has to wait for. */
export function sshAgent(target: SshTarget): Agent {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: keptConnections });
  return Object.assign(agent, { createConnection: () => openSshStream(target) });
}

/** The stream to the engine of another machine. It has what `node:http` wants of a socket. */
export function openSshStream(target: SshTarget): Duplex {
  const child = spawn("ssh", sshArguments(target), { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  const { stdin, stdout, stderr } = child;
  let words = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-maxWordsLength);
  });
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {
      stdout.resume();
    },
    write: (chunk, _encoding, done) => {
      // What ssh could not take is told by its end, with the reason.
      stdin.write(chunk, () => done());
    },
    final: (done) => {
      stdin.end(() => done());
    },
    destroy: (error, done) => {
      child.kill();
      for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
      done(error);
    },
  });
  stdin.on("error", () => undefined);
  stdout.on("data", (chunk: Buffer) => stream.push(chunk) || stdout.pause());
  child.on("error", (error) => stream.destroy(new SshFailure(`ssh cannot be started: ${error.message}`)));
  child.on("close", (code, signal) => {
    if (code === 0) stream.push(null);
    else stream.destroy(new SshFailure(words.trim() || `ssh ended with ${code ?? signal}`));
  });
  const handles = [child, stdin, stdout, stderr];
  const refer = (how: "ref" | "unref") => {
    for (const handle of handles) Reflect.apply(Reflect.get(handle, how), handle, []);
    return stream;
  };
  const same = () => stream;
  return Object.assign(stream, {
    ref: () => refer("ref"),
    unref: () => refer("unref"),
    setKeepAlive: same,
    setNoDelay: same,
    setTimeout: same,
  });
}
