import { randomUUID } from "node:crypto";
import type { SessionExecuteRequest, Session as SessionInfo } from "@daytona/toolbox-api-client";
import type { BoxProcess } from "../../box-process.js";
import type { EmulatedBox } from "../../emulated-box.js";
import { guestScript } from "../../guest-program.js";
import type { DaytonaQuirks } from "../quirks.js";
import { run } from "./run.js";
import { SessionCommand } from "./session-command.js";

/**
 * One long-lived shell that sources the commands it is given, one after the other. A command that exits ends the
 * shell: then later ones are accepted and never run, and nobody is told.
 */
export class Session {
  readonly id: string;
  readonly #box: EmulatedBox;
  readonly #quirks: DaytonaQuirks;
  readonly #folder: string;
  readonly #shell: BoxProcess;
  readonly #carriers: BoxProcess[] = [];
  readonly #commands = new Map<string, SessionCommand>();

  /** Starts the shell of a session. */
  static async start(
    box: EmulatedBox,
    id: string,
    env: Readonly<Record<string, string>>,
    quirks: DaytonaQuirks,
  ): Promise<Session> {
    const { stdout } = await run(box, ["mktemp", "-d"]);
    const shell = await box.start({ argv: [box.shell], cwd: box.home, env, stdin: true });
    return new Session(box, id, stdout.toString("utf8").trimEnd(), shell, quirks);
  }

  private constructor(box: EmulatedBox, id: string, folder: string, shell: BoxProcess, quirks: DaytonaQuirks) {
    this.id = id;
    this.#box = box;
    this.#folder = folder;
    this.#shell = shell;
    this.#quirks = quirks;
    // A shell that is lost has no more to tell.
    this.#listen().catch(() => undefined);
  }

  /** What the service tells of it. */
  get info(): SessionInfo {
    return { sessionId: this.id, commands: [...this.#commands.values()].map((command) => command.info) };
  }

  command(id: string): SessionCommand | undefined {
    return this.#commands.get(id);
  }

  /** Gives the shell a command to run after those before it. */
  async execute({ command, suppressInputEcho = false }: SessionExecuteRequest): Promise<SessionCommand> {
    const id = randomUUID();
    const folder = `${this.#folder}/${id}`;
    await this.#box.files.write(`${folder}/command`, command);
    const argv = await guestScript("session-command", folder);
    const carrier = await this.#box.start({ argv, cwd: this.#box.home, env: {}, stdin: true });
    this.#carriers.push(carrier);
    const started = new SessionCommand(id, command, carrier, this.#quirks, !suppressInputEcho);
    this.#commands.set(id, started);
    const lines = [
      `while [ ! -p '${folder}/err' ]; do sleep 0.01; done`,
      `. '${folder}/command' <'${folder}/in' >'${folder}/out' 2>'${folder}/err'`,
      `printf '%s %s\\n' ${id} "$?"`,
    ];
    // The shell takes it when it is done with the one before.
    this.#shell.write(Buffer.from(lines.map((line) => `${line}\n`).join(""))).catch(() => undefined);
    return started;
  }

  /** Ends the shell, what it has started, and all that waits for it. */
  async end(): Promise<void> {
    const processes = [this.#shell, ...this.#carriers];
    await Promise.all(processes.map((process) => process.signalTree("SIGKILL")));
    await Promise.allSettled(processes.map(({ exited }) => exited));
    for (const command of this.#commands.values()) command.end();
    await this.#box.files.remove(this.#folder, { recursive: true });
  }

  /** The shell itself prints one line for each command that has ended. */
  async #listen(): Promise<void> {
    let rest = "";
    for await (const { stream, bytes } of this.#shell.output()) {
      if (stream === "stderr") continue;
      const lines = (rest + bytes.toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [id = "", exitCode] = line.split(" ");
        // Settles by what is seen of the command.
        void this.#commands.get(id)?.exited(Number(exitCode));
      }
    }
  }
}
