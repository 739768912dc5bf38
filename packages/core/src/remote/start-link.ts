import { randomBytes } from "node:crypto";
import * as z from "zod/mini";
import { linkProgram } from "../agent/guest-source.js";
import { unlessAborted } from "../deadline.js";
import { messageOf, SandboxError } from "../errors.js";
import { lazily } from "../lazily.js";
import { encodeResume, keyBytes, nonceBytes } from "./packets.js";
import type { Terminal, TerminalConnection } from "./terminal.js";

/** What a shell may say before our line runs: greetings, prompts, the echo of the line. */
const maxPreludeBytes = 1024 * 1024;
const defaultSilentMs = 60_000;
const oldestPython = [3, 9] as const;
/** How much of what a terminal said goes into an error. */
const quotedCharacters = 300;

/** What a link starts with. */
export interface LinkStart {
  readonly connection: TerminalConnection;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** What was read already of what follows. */
  readonly rest: Uint8Array;
  readonly key: Uint8Array;
  /** Of the resumption that went with the program. */
  readonly nonce: Uint8Array;
  readonly place: LinkPlace;
}

/** Where a link finds itself. */
interface LinkPlace {
  /** Who programs run as. */
  readonly user: string;
  readonly home: string;
  /** Where the shell of the terminal was. */
  readonly cwd: string;
}

export interface StartLinkOptions {
  readonly provider: string;
  readonly sandboxId: string;
  /** Name of the agent's socket. */
  readonly agent: string;
  /** Who programs are to run as, where the terminal is root's; default: its user. */
  readonly user?: string | undefined;
  /** After so long without a word the guest's end takes the host for dead; default a minute. */
  readonly silentMs?: number | undefined;
  /** False: only an agent that is there already. Default: one is started where there is none. */
  readonly startAgent?: boolean | undefined;
  readonly signal: AbortSignal;
}

const place = lazily<z.ZodMiniType<LinkPlace>>(() =>
  z.object({
    user: z.string().check(z.maxLength(256)),
    home: z.string().check(z.maxLength(4096)),
    cwd: z.string().check(z.maxLength(4096)),
  }),
);
const failed = lazily(() => z.object({ message: z.string().check(z.maxLength(10_000)) }));

/**
 * Puts our program in the place of the shell of a new terminal. One line is typed; what it runs makes the terminal
 * raw, says its marker (`SANDKIT:NONCE python 3.11`), and takes the program as bytes: a zero byte, the nonce, then its
 * configuration, a zero byte, and the sources, deflated.
 * @throws NoPythonError for a box without Python 3.9; SandboxError `UNAVAILABLE` for what may work another time
 */
export async function startLink(terminal: Terminal, options: StartLinkOptions): Promise<LinkStart> {
  const mark = randomBytes(8).toString("hex");
  const key = randomBytes(keyBytes);
  const nonce = randomBytes(nonceBytes);
  const { loader, program } = await linkProgram();
  const { agent, user = "", silentMs = defaultSilentMs, startAgent = true } = options;
  const settings = [mark, key.toString("hex"), agent, user, silentMs, startAgent ? "start" : ""];
  const config = Buffer.from(`${settings.join("\n")}\0`);
  const size = config.length + program.length;
  const connection = await terminal.open(options.signal);
  try {
    return await unlessAborted(converse(), options.signal);
  } catch (error) {
    await connection.close();
    throw error;
  }

  async function converse(): Promise<LinkStart> {
    const prelude = new Prelude(connection.output.getReader(), mark, options);
    const [command] = await Promise.all([
      prelude.next(),
      connection.send(Buffer.from(lineOf(loader, size, mark), "latin1")),
    ]);
    requirePython(command);
    const bytes = Buffer.concat([Buffer.from(`\0${mark}`, "latin1"), config, program, encodeResume(key, nonce, 0)]);
    const answer = prelude.next();
    answer.catch(() => undefined);
    for (let at = 0; at < bytes.length; at += terminal.maxSendBytes) {
      await connection.send(bytes.subarray(at, at + terminal.maxSendBytes));
    }
    const found = placeOf(await answer, options);
    return { connection, ...prelude.remainder, key, nonce, place: found };
  }
}

/** One line for any shell with the grammar of sh; nothing in it needs quoting beside what is quoted. */
function lineOf(loader: Buffer, size: number, mark: string): string {
  const unpack = `import zlib,binascii as b;exec(zlib.decompress(b.a2b_base64("${loader.toString("base64")}")))`;
  const start = `exec python3 -I -S -u -c '${unpack}' ${size} ${mark}`;
  const tell = `printf '\\nSANDKIT:%s none\\n' ${mark}`;
  return ` if command -v python3 >/dev/null 2>&1;then ${start};else ${tell};fi\n`;
}

interface Said {
  readonly word: string;
  readonly text: string;
}

/** Whose terminal it is, for errors. */
export interface PreludeOwner {
  readonly provider: string;
  readonly sandboxId: string;
}

/** Finds the lines with our mark in what a terminal says. */
export class Prelude {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #mark: Buffer;
  readonly #owner: PreludeOwner;
  #data = Buffer.alloc(0);

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, mark: string, owner: PreludeOwner) {
    this.#reader = reader;
    this.#mark = Buffer.from(`SANDKIT:${mark} `, "latin1");
    this.#owner = owner;
  }

  get remainder() {
    return { reader: this.#reader, rest: this.#data };
  }

  async next(): Promise<Said> {
    for (;;) {
      const at = this.#data.indexOf(this.#mark);
      const end = at < 0 ? -1 : this.#data.indexOf(0x0a, at);
      if (end >= 0) {
        const line = this.#data.toString("utf8", at + this.#mark.length, end).trim();
        this.#data = this.#data.subarray(end + 1);
        const [word = ""] = line.split(" ", 1);
        return { word, text: line.slice(word.length + 1) };
      }
      if (this.#data.length > maxPreludeBytes) throw this.#failure(`said more than ${maxPreludeBytes} bytes`);
      const { done, value } = await this.#reader.read().catch((cause) => {
        throw this.#failure(`broke (${messageOf(cause)})`, cause);
      });
      if (done) throw this.#failure("ended");
      this.#data = Buffer.concat([this.#data, value]);
    }
  }

  #failure(what: string, cause?: unknown): SandboxError {
    const said = readable(this.#data.toString("utf8")).slice(-quotedCharacters);
    const detail = said === "" ? "" : `; it said: ${said}`;
    return failure(
      "UNAVAILABLE",
      `the terminal of sandbox ${this.#owner.sandboxId} ${what}${detail}`,
      this.#owner,
      cause,
    );
  }
}

/** One line of plain text: what a terminal says may move the cursor of whoever reads the error. */
function readable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const plain = text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return plain.trim();
}

function requirePython({ word, text }: Said): void {
  const [major = 0, minor = 0] = text.split(".").map(Number);
  if (word !== "python") throw new NoPythonError("there is no python3");
  const [oldMajor, oldMinor] = oldestPython;
  if (major === oldMajor ? minor < oldMinor : major < oldMajor) throw new NoPythonError(`python3 is ${readable(text)}`);
}

/** The box has nothing that runs the link. */
export class NoPythonError extends Error {
  override readonly name = "NoPythonError";
}

function placeOf({ word, text }: Said, options: StartLinkOptions): LinkPlace {
  try {
    const value: unknown = JSON.parse(text);
    if (word === "link") return place().parse(value);
    if (word === "gone") {
      const message = `the agent of sandbox ${options.sandboxId} has ended, and the sandbox with it: create a new one`;
      throw failure("NOT_FOUND", message, options);
    }
    const { message } = failed().parse(value);
    throw failure("UNAVAILABLE", `no agent runs in sandbox ${options.sandboxId}: ${readable(message)}`, options);
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause;
    const message = `the link in sandbox ${options.sandboxId} started with what it must not say: ${readable(text)}`;
    throw failure("UNAVAILABLE", message, options, cause);
  }
}

function failure(
  code: "UNAVAILABLE" | "NOT_FOUND",
  message: string,
  { provider, sandboxId }: PreludeOwner,
  cause?: unknown,
): SandboxError {
  return new SandboxError(code, message, { provider, sandboxId, operation: "create", cause });
}
