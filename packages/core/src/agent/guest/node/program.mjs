import { spawn } from "node:child_process";
import { closeSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { AgentFailure } from "./failure.mjs";
import { checkDirectory, findProgram, reasons } from "./find-program.mjs";
import { frameType, laneNumber } from "./frames.mjs";
import { memoryKills } from "./memory-kills.mjs";
import { OutputPump, untilQuiet } from "./output-pump.mjs";
import { wakeReaders } from "./pipes.mjs";
import { sendSignal, tokenName } from "./trees.mjs";

/** No process of Linux can have it: the number of a program that never ran. */
const nobody = 4_194_305;
/** Programs are to die of a lack of memory before the agent does. */
const firstToDie = "1000";
const wakeMs = 50;

/** The lanes of a spawn. */
export function spawnLanes({ stdin, control }) {
  return {
    incoming: [...(stdin ? [laneNumber.in] : []), ...(control ? [laneNumber.controlIn] : [])],
    outgoing: [laneNumber.out, laneNumber.err, ...(control ? [laneNumber.controlOut] : [])],
  };
}

/** A program that was asked for, with its streams. */
export class Program {
  /** Whether it counts as use of the box. */
  counts;
  /** Settles with its pid, or why it did not start. */
  started;
  #agent;
  #stream;
  #request;
  #tree;
  #child;
  #killed = false;
  #over = false;
  #killsBefore = null;
  #pumps = [];
  #control = null;

  constructor(agent, stream, request) {
    this.#agent = agent;
    this.#stream = stream;
    this.#request = request;
    this.counts = !request.control;
    this.started = this.#start();
    // Told to the host by whoever asked; a kill that waits for it needs no second telling.
    this.started.catch(() => undefined);
  }

  async kill(signal, scope) {
    await this.started;
    if (!this.#tree) return;
    if (signal === "SIGKILL") this.#killed = true;
    if (scope === "tree") this.#agent.trees.signal(this.#tree, signal);
    else if (this.#child.exitCode === null && this.#child.signalCode === null) sendSignal(-this.#child.pid, signal);
  }

  async #start() {
    const { agent, request } = { agent: this.#agent, request: this.#request };
    if (request.pty !== null) throw new AgentFailure("ENOTSUP", "an agent without Python has no terminals");
    const cwd = request.cwd ?? agent.workdir;
    checkDirectory(cwd);
    const env = { ...agent.env, ...request.env };
    const [name, ...args] = request.command;
    const { file, errno } = findProgram(name, { path: env.PATH ?? "", cwd });
    if (errno) return this.#refuse(name, errno);
    const pipes = {};
    try {
      await this.#takePipes(pipes);
      await this.#run(file, { argv0: name, args, cwd, env }, pipes);
      return this.#child.pid;
    } catch (error) {
      for (const pipe of Object.values(pipes)) {
        if (!pipe) continue;
        closeSync(pipe.mine);
        if (pipe.name >= 0) closeSync(pipe.name);
      }
      if (["EAGAIN", "EMFILE", "ENFILE"].includes(error.code)) throw error;
      // The file is there: what is missing is the interpreter of its first line.
      return this.#refuse(name, error.code === "ENOENT" ? "ENOEXEC" : error.code);
    } finally {
      for (const pipe of Object.values(pipes)) if (pipe) closeSync(pipe.theirs);
    }
  }

  /** What cannot run ends as a program does that could not be executed. */
  #refuse(name, errno) {
    const missing = errno === "ENOENT" || errno === "ENOTDIR";
    const reason = missing ? "command not found" : (reasons[errno] ?? errno);
    const shown = this.#request.mergeStderr ? laneNumber.out : laneNumber.err;
    // After the answer to the spawn.
    setImmediate(() => {
      this.#stream.outgoing.get(shown).send(Buffer.from(`sandkit: ${name}: ${reason}\n`));
      for (const lane of this.#stream.outgoing.values()) lane.end();
      this.#exited(missing ? 127 : 126, null);
      this.#gone();
    });
    return nobody;
  }

  async #takePipes(pipes) {
    const { stdin, mergeStderr, control } = this.#request;
    const wanted = { in: stdin, out: true, err: !mergeStderr, controlIn: control, controlOut: control };
    for (const [name, want] of Object.entries(wanted)) {
      pipes[name] = want ? await this.#agent.pipes.take(name === "in" || name === "controlIn" ? "in" : "out") : null;
    }
  }

  async #run(file, { argv0, args, cwd, env }, pipes) {
    const { stdin, mergeStderr, control } = this.#request;
    const end = (pipe) => pipe?.theirs ?? "pipe";
    if (mergeStderr && !pipes.out) throw new AgentFailure("EAGAIN", "no pipe for both outputs: mkfifo is missing");
    const stdio = [stdin ? end(pipes.in) : "ignore", end(pipes.out), mergeStderr ? pipes.out.theirs : end(pipes.err)];
    if (control) stdio.push(end(pipes.controlIn), end(pipes.controlOut));
    const tree = this.#agent.trees.plant(() => this.#gone());
    this.#killsBefore = memoryKills();
    const child = spawn(file, args, {
      argv0,
      cwd,
      env: { ...env, [tokenName]: tree.token },
      stdio,
      // A session and group of its own.
      detached: true,
    });
    this.#child = child;
    if (child.pid === undefined) {
      throw await new Promise((resolve) => child.on("error", resolve));
    }
    this.#tree = tree;
    this.#agent.trees.grow(tree, child.pid);
    sacrifice(child.pid);
    child.on("exit", (code, signal) => this.#leaderEnded(code, signal));
    this.#connect(child, pipes);
  }

  #connect(child, pipes) {
    const { stdin, mergeStderr, control } = this.#request;
    const source = (pipe, number) =>
      pipe ? new Socket({ fd: pipe.mine, readable: true, writable: false }) : child.stdio[number];
    const sink = (pipe, number) =>
      pipe ? new Socket({ fd: pipe.mine, readable: false, writable: true }) : child.stdio[number];
    const { incoming, outgoing } = this.#stream;
    this.#pumps.push(new OutputPump(source(pipes.out, 1), outgoing.get(laneNumber.out)));
    if (mergeStderr) outgoing.get(laneNumber.err).end();
    else this.#pumps.push(new OutputPump(source(pipes.err, 2), outgoing.get(laneNumber.err)));
    const fill = (number, pipe, descriptor) => {
      const fed = feed(incoming.get(number), sink(pipe, descriptor));
      if (pipe) fed.then(() => this.#wakeUntilOver(pipe.name));
    };
    if (stdin) fill(laneNumber.in, pipes.in, 0);
    if (!control) return;
    fill(laneNumber.controlIn, pipes.controlIn, 3);
    const gate = () => untilQuiet(this.#pumps);
    this.#control = new OutputPump(source(pipes.controlOut, 4), outgoing.get(laneNumber.controlOut), gate);
  }

  #wakeUntilOver(name) {
    if (this.#over) return closeSync(name);
    wakeReaders(name);
    setTimeout(() => this.#wakeUntilOver(name), wakeMs);
  }

  #leaderEnded(code, signal) {
    const kills = memoryKills();
    const oom = signal === "SIGKILL" && !this.#killed && kills !== null && kills > (this.#killsBefore ?? kills);
    this.#exited(code, signal, oom);
    for (const lane of this.#stream.incoming.values()) lane.close();
    for (const pump of [...this.#pumps, ...(this.#control ? [this.#control] : [])]) pump.leaderEnded();
    this.#agent.trees.leaderEnded(this.#tree);
  }

  #exited(code, signal, oom = false) {
    const usage = { cpuMs: null, peakMemoryBytes: null };
    this.#tell({ event: "exited", code: signal === null ? code : null, signal, oom, ...usage });
  }

  #gone() {
    this.#over = true;
    this.#tell({ event: "gone" });
    this.#agent.programOver(this, this.#stream);
  }

  #tell(event) {
    this.#agent.channel.sendJson(frameType.event, this.#stream.id, event);
  }
}

/** Hands a lane on to a program, as fast as that reads. */
async function feed(lane, sink) {
  sink.on("error", () => {
    // Nobody reads any more.
    sink.destroy();
    lane.close();
  });
  for (let bytes = await lane.next(); bytes !== null; bytes = await lane.next()) {
    if (sink.destroyed) return;
    const { length } = bytes;
    const taken = await new Promise((resolve) => sink.write(bytes, (error) => resolve(!error)));
    if (!taken) return;
    lane.handedOn(length);
  }
  sink.end();
}

function sacrifice(pid) {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, firstToDie);
  } catch (error) {
    // It has ended already, or has become another user.
    if (!["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(error.code)) throw error;
  }
}
