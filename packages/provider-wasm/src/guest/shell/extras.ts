import { env, printenv } from "./environment.js";
import { ls } from "./ls.js";
import { mktemp } from "./mktemp.js";
import type { Run } from "./nested.js";
import { readOptions } from "./read-options.js";
import { realpath } from "./realpath.js";
import { rm } from "./rm.js";
import { shellCommand } from "./scripts.js";
import { timeout } from "./timeout.js";
import { xargs } from "./xargs.js";

const text = (stdout: string) => ({ stdout, stderr: "", exitCode: 0 });
const failure = (message: string, exitCode = 1) => ({ stdout: "", stderr: `${message}\n`, exitCode });

/** What `yes` gives at most: a pipe here holds all that a command writes before the next one reads. */
const mostOfYes = 1024 * 1024;

const system = { s: "Linux", n: "localhost", r: "wasm", v: "sandkit", m: "wasm32", p: "unknown", o: "GNU/Linux" };
const systemNames = {
  all: "a",
  "kernel-name": "s",
  nodename: "n",
  "kernel-release": "r",
  "kernel-version": "v",
  machine: "m",
  processor: "p",
  "operating-system": "o",
};

/** Small commands that scripts use and just-bash does not have, or has too little of. */
export const extras: Readonly<Record<string, Run>> = {
  bash: shellCommand("bash"),
  sh: shellCommand("sh"),
  env,
  ls,
  printenv,
  rm,
  timeout,
  xargs,
  mktemp,
  realpath,
  yes: async (args) => {
    const line = `${args.join(" ") || "y"}\n`;
    // As if its reader had left.
    return { ...text(line.repeat(Math.ceil(mostOfYes / line.length))), exitCode: 141 };
  },
  uname: async (args) => {
    const { options, operands } = readOptions(args, { letters: "asnrvmpo", names: systemNames });
    if (operands[0] !== undefined) throw new Error(`extra operand '${operands[0]}'`);
    const all = Object.entries(system).filter(([letter]) => options.has("a") || options.has(letter));
    return text(`${all.map(([, fact]) => fact).join(" ") || system.s}\n`);
  },
  id: async (args) => {
    const names = { user: "u", group: "g", groups: "G", name: "n", real: "r", zero: "z" };
    const { options, operands } = readOptions(args, { letters: "ugGnrz", names });
    if (operands.some((user) => user !== "user" && user !== "1000")) throw new Error(`'${operands[0]}': no such user`);
    const asked = ["u", "g", "G"].filter((letter) => options.has(letter));
    if (asked.length > 1) throw new Error("cannot print more than one of -u, -g and -G");
    if (asked.length === 1) return text((options.has("n") ? "user" : "1000") + (options.has("z") ? "\0" : "\n"));
    if (options.size > 0) throw new Error("-n, -r and -z are for -u, -g and -G");
    return text("uid=1000(user) gid=1000(user) groups=1000(user)\n");
  },
  nproc: async (args) => {
    readOptions(args, { letters: "AI:", names: { all: "A", ignore: "I" } });
    return text("1\n");
  },
  kill: async (args) => {
    const pids = args.filter((arg) => !arg.startsWith("-"));
    return failure(
      pids.map((pid) => `kill: (${pid}) - No such process`).join("\n") || "kill: usage: kill [-SIGNAL] PID",
    );
  },
  ulimit: async () => failure("sandkit: ulimit: not available in WebAssembly: limits are the sandbox's own"),
  jobs: async () => text(""),
};

/** `which`, which does not find the commands that only say why they are not there. */
export function whichWithout(refused: readonly string[]): Run {
  return async (args, context) => {
    const there = args.filter((arg) => !refused.includes(arg));
    const found = await context.origCommand?.(there);
    return there.length === args.length || !found ? (found ?? failure("which: not there")) : { ...found, exitCode: 1 };
  };
}
