import { posix } from "node:path";
import type { Duplex } from "node:stream";
import type { UpdateEnvRequest } from "@daytona/toolbox-api-client";
import type { EmulatedBox } from "../../emulated-box.js";
import { daemonFailure } from "../api-failure.js";
import type { DaytonaQuirks } from "../quirks.js";
import { Interpreter } from "./interpreter.js";
import { Pty, type PtyRequest } from "./pty.js";
import { Session } from "./session.js";

interface Breakable {
  destroy(): unknown;
}

/** The program in a sandbox that answers for it: what it has started, and what everything that it starts gets. */
export class Toolbox {
  readonly box: EmulatedBox;
  readonly quirks: DaytonaQuirks;
  readonly sessions = new Map<string, Session>();
  readonly ptys = new Map<string, Pty>();
  readonly interpreters = new Map<string, Interpreter>();
  readonly #env: Map<string, string>;
  readonly #held = new Set<Breakable>();

  constructor(box: EmulatedBox, env: Readonly<Record<string, string>>, quirks: DaytonaQuirks) {
    this.box = box;
    this.quirks = quirks;
    this.#env = new Map(Object.entries(env));
  }

  /** Where commands start. */
  get workdir(): string {
    return this.box.home;
  }

  /** The environment of what is started, with more on top. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...Object.fromEntries(this.#env), ...more };
  }

  /** A path of a request as an absolute one. */
  path(path: string): string {
    const below = path === "~" || path.startsWith("~/") ? `.${path.slice(1)}` : path;
    return posix.resolve(this.workdir, below);
  }

  /** Changes the environment of what is started from now on. */
  updateEnv({ set = {}, unset = [], unsetValuePrefix }: UpdateEnvRequest): void {
    for (const name of unset) this.#env.delete(name);
    if (unsetValuePrefix) {
      for (const [name, value] of this.#env) if (value.startsWith(unsetValuePrefix)) this.#env.delete(name);
    }
    for (const [name, value] of Object.entries(set)) this.#env.set(name, value);
  }

  /** The session of that name. @throws ApiFailure 404 */
  session(id: string): Session {
    const session = this.sessions.get(id);
    if (!session) throw daemonFailure(404, `session not found: ${id}`);
    return session;
  }

  /** Starts a session. @throws ApiFailure 409 when there is one of that name */
  async createSession(id: string): Promise<void> {
    if (!id) throw daemonFailure(400, "sessionId is required");
    if (this.sessions.has(id)) throw daemonFailure(409, `session already exists: ${id}`);
    this.sessions.set(id, await Session.start(this.box, id, this.env(), this.quirks));
  }

  async deleteSession(id: string): Promise<void> {
    const session = this.session(id);
    this.sessions.delete(id);
    await session.end();
  }

  /** The terminal of that name. @throws ApiFailure 404 */
  pty(id: string): Pty {
    const pty = this.ptys.get(id);
    if (!pty) throw daemonFailure(404, `PTY session ${id} not found`);
    return pty;
  }

  /** A new terminal, which is forgotten when its shell has ended. @throws ApiFailure 409 */
  createPty(request: PtyRequest): Pty {
    const { id } = request;
    if (this.ptys.has(id)) throw daemonFailure(409, `PTY session with id '${id}' already exists`);
    const pty = new Pty(this.box, request, this.quirks.ptyBacklogBytes);
    this.ptys.set(id, pty);
    pty.over.then(() => this.ptys.delete(id));
    return pty;
  }

  /** Starts a Python that keeps its state. */
  async createInterpreter(id: string, cwd: string): Promise<Interpreter> {
    const interpreter = await Interpreter.start(this.box, id, cwd, this.env());
    this.interpreters.set(id, interpreter);
    return interpreter;
  }

  /** Remembers what has to break off when the machine stops, until it is released. */
  hold(connection: Breakable): () => void {
    this.#held.add(connection);
    return () => this.#held.delete(connection);
  }

  /** Remembers a connection until it is closed. */
  holdSocket(socket: Duplex): void {
    socket.on("close", this.hold(socket));
  }

  /** Whether somebody is connected. */
  get isConnected(): boolean {
    return this.#held.size > 0;
  }

  /** Breaks all connections, and forgets all that was started: the machine stops. */
  async stop(): Promise<void> {
    this.cut();
    this.sessions.clear();
    this.ptys.clear();
    this.interpreters.clear();
    await this.box.killAll();
  }

  /** Breaks all connections. */
  cut(): void {
    for (const connection of this.#held) connection.destroy();
  }
}
