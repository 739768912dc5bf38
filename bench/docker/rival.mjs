import { label } from "./bench-engine.mjs";

// By a name that the type checker does not follow: the rivals are installed only where the bench runs.
const rival = "@mastra/docker";
const { DockerSandbox } = await import(rival);

let made = 0;

/**
 * A sandbox of @mastra/docker on the same image, started.
 * @param {string} image
 */
export async function startRival(image) {
  const name = `sandkit-bench-${process.pid}-${made++}`;
  const sandbox = new DockerSandbox({ id: name, name, image, labels: { [label]: String(process.pid) } });
  await sandbox._start();
  return sandbox;
}

/**
 * A command through its API.
 * @param {{ executeCommand?: (command: string, args: string[], options: object) => Promise<{ exitCode: number, stdout: string, stderr: string }> }} sandbox
 * @param {string} command
 * @param {string[]} [args]
 * @param {object} [options]
 */
export function rivalCommand(sandbox, command, args = [], options = {}) {
  if (!sandbox.executeCommand) throw new Error("this version of @mastra/docker has no executeCommand");
  return sandbox.executeCommand(command, args, options);
}

/**
 * The same; throws unless it ended with 0.
 * @param {{ executeCommand?: (command: string, args: string[], options: object) => Promise<{ exitCode: number, stdout: string, stderr: string }> }} sandbox
 * @param {string} command
 * @param {string[]} [args]
 */
export async function rivalExec(sandbox, command, args = []) {
  const { exitCode, stdout } = await rivalCommand(sandbox, command, args);
  if (exitCode !== 0) throw new Error(`@mastra/docker ${command}: exit code ${exitCode}`);
  return stdout;
}
