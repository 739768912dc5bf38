import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { Channel } from "./channel.mjs";
import { Connection, connectHere } from "./connection.mjs";
import { AgentFailure, about, describeFailure } from "./failure.mjs";
import { makeDirectory, makeSymlink, moveFile, removeFile, statFile } from "./files.mjs";
import { firstAgentStream, frameType, laneNumber, maxStreams, ProtocolError } from "./frames.mjs";
import { Gateway } from "./gateway.mjs";
import { IncomingLane, OutgoingLane } from "./lanes.mjs";
import { Lifetime } from "./lifetime.mjs";
import { listFiles } from "./list-files.mjs";
import { Pipes } from "./pipes.mjs";
import { Program, spawnLanes } from "./program.mjs";
import { readFileRange } from "./read-file.mjs";
import { checkRequest, parseRequest, requireText } from "./requests.mjs";
import { Trees } from "./trees.mjs";
import { dropUnfinished, writeFile } from "./write-file.mjs";

/** How long everything may take to die, and the host to read the last words. */
const endMs = 2_000;

const protocolVersion = 1;
/** What a host may send beside requests and pings. */
const ofLanes = new Set([frameType.data, frameType.end, frameType.credit, frameType.cancel]);
/** Requests that are answered at once and have no lanes. */
const simple = { stat: statFile, mkdir: makeDirectory, move: moveFile, remove: removeFile, symlink: makeSymlink };
/** Requests that go on after their answer. */
const sending = { read: readFileRange, list: listFiles };

/** Serves one host until that leaves, or the end of its own life. */
export class Agent {
  channel = new Channel();
  workdir = "/";
  env = { ...process.env };
  pipes = new Pipes(this.env);
  trees;
  #streams = new Map();
  #programs = new Set();
  #lastStream = -1;
  #lastOpened = firstAgentStream - 1;
  #gateway = new Gateway((socket) => this.#carry(socket));
  #greeted = false;
  #ending = false;
  #lifetime = new Lifetime(
    (reason, message) => this.end(reason, message),
    () => [...this.#programs].some((program) => program.counts),
  );

  /** @param sole Whether everything else in this pid namespace comes from here. */
  constructor(sole) {
    this.trees = new Trees(sole, this.pipes.helpers);
    this.channel.onRoom = () => {
      for (const stream of this.#streams.values()) for (const lane of stream.outgoing.values()) lane.onRoom();
    };
    this.channel.listen({
      frame: (frame) => this.#hear(frame),
      broken: (error) => this.end("protocol", error.message),
      ended: () => this.end(null),
    });
  }

  /** Says farewell, if there is a reason for it, ends every program and then this process. */
  async end(reason, message = "") {
    if (this.#ending) return;
    this.#ending = true;
    if (reason !== null) this.channel.sendJson(frameType.farewell, 0, { reason, message });
    dropUnfinished();
    this.pipes.drop();
    await Promise.all([this.trees.endAll(endMs), reason === null ? undefined : this.channel.flush(endMs)]);
    process.exit(0);
  }

  programOver(program, stream) {
    this.#programs.delete(program);
    if (program.counts) this.#lifetime.use();
    stream.programOver = true;
    this.#forget(stream);
  }

  #hear({ type, lane, stream: id, payload }) {
    if (this.#ending) return;
    if (type === frameType.ping) {
      if (payload[0] === 1) this.#lifetime.use();
      this.channel.send(frameType.pong, 0, 0, Buffer.alloc(0));
      return;
    }
    if (type === frameType.request) return this.#request(id, payload);
    if (type === frameType.close) return this.#closed(id);
    if (!ofLanes.has(type)) throw new ProtocolError(`a host sends no frame of type ${type}`);
    const stream = this.#streams.get(id);
    if (!stream) {
      if (id > (id < firstAgentStream ? this.#lastStream : this.#lastOpened))
        throw new ProtocolError(`stream ${id} was never opened`);
      return;
    }
    this.#onLane(stream, type, lane, payload);
  }

  #onLane(stream, type, number, payload) {
    const [incoming, outgoing] = [stream.incoming.get(number), stream.outgoing.get(number)];
    if (type === frameType.data && incoming) incoming.add(payload);
    else if (type === frameType.end && incoming) incoming.end(payload);
    else if (type === frameType.cancel && incoming && !stream.program) incoming.cancel();
    else if (type === frameType.cancel && outgoing) outgoing.cancel();
    else if (type === frameType.credit && outgoing) outgoing.grant(payload);
    else throw new ProtocolError(`a frame of type ${type} came for lane ${number} of stream ${stream.id}`);
  }

  #request(id, payload) {
    const request = parseRequest(payload);
    const isHello = request.op === "hello";
    if (isHello === this.#greeted || isHello !== (id === 0)) throw new ProtocolError("hello comes first, once");
    if ((id <= this.#lastStream && !isHello) || id >= firstAgentStream)
      throw new ProtocolError(`stream ${id} was used before`);
    this.#lastStream = Math.max(id, this.#lastStream);
    if (request.op !== "info") this.#lifetime.use();
    if (this.#streams.size >= maxStreams) {
      const error = { errno: "EAGAIN", message: `${maxStreams} streams are open already` };
      this.channel.sendJson(frameType.response, id, { error });
      return;
    }
    const stream = this.#open(id, request);
    this.#serve(stream, request, payload).catch((error) => this.end("protocol", `the agent failed: ${error.stack}`));
  }

  /** Opens a stream for what a program has connected to. */
  async #carry(socket) {
    this.#lastOpened += 1;
    const stream = this.#open(this.#lastOpened, { op: "connect" });
    stream.hostIsDone = new Promise((resolve) => {
      stream.close = resolve;
    });
    this.channel.send(frameType.open, stream.id, 0, Buffer.alloc(0));
    await new Connection(stream, socket).over;
    await stream.hostIsDone;
    this.#streams.delete(stream.id);
    this.#gateway.over();
  }

  #closed(id) {
    const stream = this.#streams.get(id);
    if (stream?.close === undefined || stream.isClosed) throw new ProtocolError(`stream ${id} cannot be closed`);
    stream.isClosed = true;
    stream.close();
  }

  #open(id, request) {
    const lanes = lanesOf(request);
    const stream = {
      id,
      incoming: new Map(lanes.incoming.map((lane) => [lane, new IncomingLane(this.channel, id, lane)])),
      outgoing: new Map(lanes.outgoing.map((lane) => [lane, new OutgoingLane(this.channel, id, lane)])),
      program: undefined,
      programOver: false,
    };
    this.#streams.set(id, stream);
    return stream;
  }

  async #serve(stream, request, payload) {
    let goOn;
    try {
      checkRequest(request);
      requireText(payload);
      const ok = await this.#answer(stream, request);
      goOn = typeof ok === "function" ? ok : undefined;
      this.channel.sendJson(frameType.response, stream.id, { ok: goOn ? {} : ok });
    } catch (error) {
      for (const lane of stream.incoming.values()) lane.close();
      this.channel.sendJson(frameType.response, stream.id, { error: describeFailure(error) });
      this.#streams.delete(stream.id);
      if (stream.program) this.#programs.delete(stream.program);
      return;
    }
    if (request.op === "spawn") return;
    await goOn?.();
    this.#streams.delete(stream.id);
    if (request.op === "shutdown") this.end("shutdown", "as it was asked");
  }

  #answer(stream, request) {
    if (request.op in simple) return simple[request.op](request);
    if (request.op in sending) return sending[request.op](request, stream);
    if (request.op === "write") return writeFile(request, stream);
    if (request.op === "spawn") return this.#spawn(stream, request);
    if (request.op === "kill") return this.#kill(request);
    if (request.op === "hello") return this.#greet(request);
    if (request.op === "connect") return this.#connect(stream, request);
    if (request.op === "info") return this.#info();
    if (request.op === "resize") return this.#resize(request);
    if (request.op === "extend") this.#lifetime.extend(request.ttlMs);
    return {};
  }

  async #connect(stream, { port }) {
    const socket = await connectHere(port);
    return () => new Connection(stream, socket, () => this.#lifetime.use()).over;
  }

  async #greet({ version, workdir, env, directories, ttlMs, idleMs, network }) {
    if (version !== protocolVersion) {
      throw new AgentFailure("EPROTONOSUPPORT", `this agent speaks version ${protocolVersion}`);
    }
    for (const folder of [workdir, ...directories]) about(folder, () => mkdirSync(folder, { recursive: true }));
    this.#greeted = true;
    if (network) await this.#listen(network.port);
    this.workdir = workdir;
    Object.assign(this.env, env);
    this.#lifetime.begin(ttlMs, idleMs);
    this.pipes.refill();
    return {
      version: protocolVersion,
      runtime: `node ${process.versions.node}`,
      killTree: "emulated",
      pty: false,
      workdir,
      startedAt: Math.floor(Date.now() - process.uptime() * 1000),
    };
  }

  async #listen(port) {
    try {
      await this.#gateway.listen(port);
    } catch (error) {
      this.#greeted = false;
      throw error;
    }
  }

  async #spawn(stream, request) {
    const program = new Program(this, stream, request);
    stream.program = program;
    this.#programs.add(program);
    for (const lane of stream.outgoing.values()) lane.onEnd = () => this.#forget(stream);
    return { pid: await program.started };
  }

  /** A spawn is over when its tree is gone and its outputs have ended. */
  #forget(stream) {
    const ended = [...stream.outgoing.values()].every((lane) => lane.ended);
    if (stream.programOver && ended) this.#streams.delete(stream.id);
  }

  async #kill({ process: id, signal, scope }) {
    await this.#programOf(id)?.kill(signal, scope);
    return {};
  }

  #resize({ process: id }) {
    if (this.#programOf(id)) throw new AgentFailure("EINVAL", "the program has no terminal");
    return {};
  }

  /** Undefined when it is over. */
  #programOf(id) {
    const stream = this.#streams.get(id);
    if (id > this.#lastStream || (stream && !stream.program)) {
      throw new AgentFailure("EINVAL", `stream ${id} is no process`);
    }
    return stream?.program;
  }

  #info() {
    const has = (name) =>
      (this.env.PATH ?? "").split(":").some((folder) => {
        try {
          accessSync(`${folder || "."}/${name}`, constants.X_OK);
          return statSync(`${folder || "."}/${name}`).isFile();
        } catch (error) {
          if (typeof error.code !== "string") throw error;
          return false;
        }
      });
    return {
      shells: ["sh", "bash"].filter(has),
      interpreters: ["python3", "node"].filter(has),
      programs: ["git"].filter(has),
      expiresAt: this.#lifetime.expiresAt,
    };
  }
}

function lanesOf(request) {
  if (request.op === "spawn") return spawnLanes(request);
  const { op } = request;
  return {
    incoming: op === "write" || op === "connect" ? [laneNumber.in] : [],
    outgoing: op === "read" || op === "list" || op === "connect" ? [laneNumber.out] : [],
  };
}
