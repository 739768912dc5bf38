import { spawn } from "node:child_process";

/**
 * Runs a program of this machine.
 * @param {readonly string[]} command
 * @param {{ env?: Record<string, string> }} [options]
 * @returns {Promise<string>} What it wrote to stdout.
 * @throws Error with the end of its output when it fails
 */
export function run(command, { env = {} } = {}) {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", (error) => reject(new Error(`${program}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(output);
      const said = `${output}${errors}`.trimEnd().split("\n").slice(-20).join("\n");
      reject(new Error(`${command.join(" ")} ended with ${code ?? signal}:\n${said}`));
    });
  });
}
