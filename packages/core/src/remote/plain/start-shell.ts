import { randomBytes } from "node:crypto";
import { unlessAborted } from "../../deadline.js";
import { SandboxError } from "../../errors.js";
import { guestSource } from "../../plain/guest-source.js";
import { Prelude, type PreludeOwner } from "../start-link.js";
import type { Terminal, TerminalConnection } from "../terminal.js";

/** What the relay and our programs need beside a shell; `sh` itself runs the check. */
const tools = ["stty", "dd", "base64", "tr", "setsid", "mkfifo", "mktemp", "rm", "env"];
/** Where our own programs look first, whatever the box has in its `PATH`. */
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A terminal whose shell is our relay by now. */
export interface StartedShell {
  readonly connection: TerminalConnection;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** What was read already of what follows. */
  readonly rest: Uint8Array;
  readonly place: ShellPlace;
}

/** Where a shell of the box starts, and what its programs find others by. */
export interface ShellPlace {
  readonly path: string;
  readonly home: string;
  readonly cwd: string;
}

/**
 * Puts `guest/relay.sh` in the place of the shell of a new terminal: one line is typed, which makes the terminal raw,
 * says its marker, and takes the relay as bytes.
 * @throws SandboxError `UNSUPPORTED` for a box that lacks a tool; `UNAVAILABLE` for what may work another time
 */
export async function startShell(terminal: Terminal, owner: PreludeOwner, signal: AbortSignal): Promise<StartedShell> {
  const mark = randomBytes(8).toString("hex");
  const source = Buffer.from(await guestSource("relay"));
  const connection = await terminal.open(signal);
  try {
    return await unlessAborted(converse(), signal);
  } catch (error) {
    await connection.close();
    throw error;
  }

  async function converse(): Promise<StartedShell> {
    const prelude = new Prelude(connection.output.getReader(), mark, owner);
    const [found] = await Promise.all([
      prelude.next(),
      connection.send(Buffer.from(lineOf(source.length, mark), "latin1")),
    ]);
    if (found.word !== "shell") throw lacking(found.text, owner);
    const answer = prelude.next();
    answer.catch(() => undefined);
    for (let at = 0; at < source.length; at += terminal.maxSendBytes) {
      await connection.send(source.subarray(at, at + terminal.maxSendBytes));
    }
    return { connection, ...prelude.remainder, place: placeOf((await answer).text) };
  }
}

/** One line for any shell with the grammar of sh. */
function lineOf(size: number, mark: string): string {
  const missing = `m=;for t in ${tools.join(" ")};do command -v $t >/dev/null 2>&1||m="$m $t";done`;
  const own = `p=$PATH;PATH="${usualPath}:$PATH";export PATH`;
  const take = `"$(dd bs=${size} count=1 iflag=fullblock 2>/dev/null)"`;
  const run = `stty raw -echo;printf '\\nSANDKIT:%s shell\\n' ${mark};exec sh -c ${take} sh ${mark} "$p"`;
  return ` ${own};${missing};if [ -z "$m" ];then ${run};else printf '\\nSANDKIT:%s lacks%s\\n' ${mark} "$m";fi\n`;
}

function placeOf(text: string): ShellPlace {
  const [path = "", home = "/", cwd = "/"] = Buffer.from(text, "base64").toString("utf8").split("\0");
  return { path: path || usualPath, home: home || "/", cwd };
}

function lacking(names: string, { provider, sandboxId }: PreludeOwner): SandboxError {
  const next = "choose an image with Python 3.9 or later, or with these";
  const message = `sandbox ${sandboxId} has neither python3 nor ${names.split(" ").join(", ")}: ${next}`;
  return new SandboxError("UNSUPPORTED", message, { provider, sandboxId, operation: "create" });
}
