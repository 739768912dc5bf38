import type { Command } from "just-bash";
import { host } from "./globals.js";

type Run = Command["execute"];

const text = (stdout: string) => ({ stdout, stderr: "", exitCode: 0 });
const failure = (message: string, exitCode = 1) => ({ stdout: "", stderr: `${message}\n`, exitCode });

/** What `yes` gives at most: a pipe here holds all that a command writes before the next one reads. */
const mostOfYes = 1024 * 1024;

/** Small commands that scripts use and just-bash does not have. */
export const extras: Readonly<Record<string, Run>> = {
  yes: async (args) => {
    const line = `${args.join(" ") || "y"}\n`;
    // As if its reader had left.
    return { ...text(line.repeat(Math.ceil(mostOfYes / line.length))), exitCode: 141 };
  },
  uname: async (args) => {
    const facts = { s: "Linux", n: "localhost", r: "wasm", v: "sandkit", m: "wasm32", o: "GNU/Linux" } as const;
    const flags = args.flatMap((arg) => (arg.startsWith("-") ? [...arg.slice(1)] : []));
    if (flags.includes("a")) return text(`${Object.values(facts).join(" ")}\n`);
    const names = flags.length > 0 ? flags : ["s"];
    const known = names.filter((name): name is keyof typeof facts => Object.hasOwn(facts, name));
    if (known.length < names.length) return failure(`uname: invalid option -- '${names.join("")}'`);
    return text(`${known.map((name) => facts[name]).join(" ")}\n`);
  },
  id: async ([flag]) => {
    if (flag === undefined) return text("uid=1000(user) gid=1000(user) groups=1000(user)\n");
    return text(flag.includes("n") ? "user\n" : "1000\n");
  },
  nproc: async () => text("1\n"),
  realpath: async (args, { fs, cwd }) => {
    const paths: string[] = [];
    for (const path of args.filter((arg) => !arg.startsWith("-"))) {
      const full = fs.resolvePath(cwd, path);
      if (!(await fs.exists(full))) return failure(`realpath: ${path}: No such file or directory`);
      paths.push(await fs.realpath(full));
    }
    return paths.length > 0 ? text(`${paths.join("\n")}\n`) : failure("realpath: missing operand");
  },
  mktemp: async (args, { fs, cwd }) => {
    const directory = args.some((arg) => /^-[a-z]*d/.test(arg));
    const template = args.find((arg) => !arg.startsWith("-")) ?? "/tmp/tmp.XXXXXXXXXX";
    const random = new Uint8Array(32);
    host.random(random);
    const letters = Array.from(random, (byte) => (byte % 36).toString(36)).join("");
    const path = fs.resolvePath(
      cwd,
      template.replace(/X{3,}$/, (run) => letters.slice(0, run.length)),
    );
    if (await fs.exists(path)) return failure(`mktemp: ${path}: File exists`);
    await (directory ? fs.mkdir(path) : fs.writeFile(path, ""));
    return text(`${path}\n`);
  },
  kill: async (args) => {
    const pids = args.filter((arg) => !arg.startsWith("-"));
    return failure(
      pids.map((pid) => `kill: (${pid}) - No such process`).join("\n") || "kill: usage: kill [-SIGNAL] PID",
    );
  },
  ulimit: async () => failure("sandkit: ulimit: not available in WebAssembly: limits are the sandbox's own"),
  jobs: async () => text(""),
  xargs: async (args, context) => {
    // just-bash takes the values of its options as words of their own only, and lines for -I as many words.
    const words = args.flatMap((arg) => (/^-[InLPd]./.test(arg) ? [arg.slice(0, 2), arg.slice(2)] : [arg]));
    const lines = words.includes("-I") && !words.some((word) => word === "-d" || word === "-0") ? ["-d", "\\n"] : [];
    return context.origCommand?.([...lines, ...words]) ?? failure("xargs: not there");
  },
};

/** `which`, which does not find the commands that only say why they are not there. */
export function whichWithout(refused: readonly string[]): Run {
  return async (args, context) => {
    const there = args.filter((arg) => !refused.includes(arg));
    const found = await context.origCommand?.(there);
    return there.length === args.length || !found ? (found ?? failure("which: not there")) : { ...found, exitCode: 1 };
  };
}
