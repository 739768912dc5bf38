import { SandboxError } from "../../errors.js";
import type { PlainPlace } from "../../plain/plain-place.js";
import { ProgramMarks } from "../../plain/program-marks.js";
import type { RemoteBox } from "../remote-box.js";
import { ShellExec } from "./shell-exec.js";
import type { ShellTerminals } from "./shell-terminals.js";

/** What a shell lets no one set, or understands in its own way; `env` gives it to the program. */
const shellsOwn = /^(?:[^A-Za-z_].*|.*[^A-Za-z0-9_].*|UID|EUID|PPID|GROUPS|SHELLOPTS|BASHOPTS|BASH_.*|IFS|ENV|_)$/s;

/** Where relays on terminals of a box start programs. */
export function shellPlace(box: RemoteBox, terminals: ShellTerminals): PlainPlace {
  const { provider, id: sandboxId } = box.ref;
  const place: PlainPlace = {
    provider,
    sandboxId,
    marks: new ProgramMarks(),
    // What the vendor does not tell now is told by the next call.
    isRunning: async () => (await box.info().catch(() => undefined))?.state !== "gone",
    lost(cause) {
      const message = `sandbox ${sandboxId} does not run any more: create a new one`;
      return new SandboxError("SANDBOX_LOST", message, { provider, sandboxId, operation: "exec", cause });
    },
    async start(command, { env, stdin, isUrgent = false }) {
      const shell = await terminals.take({ isUrgent });
      const program = { code: codeOf(command, env), stdin };
      return new ShellExec(place, shell, program, (usable) => terminals.giveBack(shell, usable));
    },
  };
  return place;
}

/** Shell code that leaves the program as `"$@"`. Of its environment nothing is on a command line, unless it must. */
function codeOf(command: readonly string[], env: readonly string[]): string {
  const pairs = env.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const);
  const plain = pairs.filter(([name]) => !shellsOwn.test(name));
  const odd = pairs.filter(([name]) => shellsOwn.test(name)).map((pair) => pair.join("="));
  const exports = plain.map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  const words = odd.length > 0 ? ["env", "--", ...odd, ...command] : command;
  return `${exports.join("")}set -- ${words.map(quoted).join(" ")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
