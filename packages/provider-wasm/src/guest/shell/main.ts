import { ask } from "./broker.js";
import { commandNames } from "./commands.js";
import { fire, host } from "./globals.js";
import { runJob, type ShellJob } from "./job.js";
import { programsRunning } from "./programs.js";

/** What the worker may call in the shell's realm. */
export interface ShellRealm {
  fire(id: number): void;
  /** Names of its commands, also of those that need a network, with spaces between. */
  readonly commands: string;
  /** Runs one job after another; never ends by itself. */
  run(): Promise<void>;
  /** Runs scripts that use what most do, so that it is compiled. */
  warmUp(scripts: string): Promise<void>;
}

export const shell: ShellRealm = Object.freeze({
  fire,
  commands: commandNames(true).join(" "),
  async run() {
    for (;;) {
      const exitCode = await runJob(ask<ShellJob>("job", []));
      // A realm in which something still waits for a program of this job is not for another.
      host.call(programsRunning() === 0 ? "finish" : "exit", JSON.stringify([exitCode]), null, false);
    }
  },
  async warmUp(scripts: string) {
    for (const script of JSON.parse(scripts) as string[]) {
      await runJob({
        argv: ["sh", "-c", script],
        stdin: false,
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        network: false,
        pid: 1,
      });
    }
  },
});
