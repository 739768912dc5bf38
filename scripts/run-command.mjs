import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the repository, with a trailing slash. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Nothing that the tools start may call home. */
const quietTools = { DO_NOT_TRACK: "1", TURBO_TELEMETRY_DISABLED: "1", NO_UPDATE_NOTIFIER: "1" };

/**
 * Runs a program in the repository. `show`: its output goes where ours goes; otherwise it is kept and returned.
 * @param {readonly string[]} command
 * @param {{ show?: boolean, cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<{ code: number, output: string }>} 127 when the program is missing, 128 and more when it was killed
 */
export function runCommand(command, { show = false, cwd = root, env = {} } = {}) {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...quietTools, ...env },
      stdio: ["ignore", show ? "inherit" : "pipe", show ? "inherit" : "pipe"],
      shell: process.platform === "win32" && program === "npm",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ code: 127, output: `${program}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 128, output }));
  });
}

/**
 * The command line of npm: the one that runs us, where one does.
 * @param {readonly string[]} args
 */
export function npm(...args) {
  const self = process.env.npm_execpath;
  return self?.endsWith(".js") ? [process.execPath, self, ...args] : ["npm", ...args];
}

/**
 * The command line of a tool that the repository has installed.
 * @param {string} script Path of the tool's program below `node_modules`.
 * @param {readonly string[]} args
 */
export function tool(script, ...args) {
  return [process.execPath, `${root}node_modules/${script}`, ...args];
}
