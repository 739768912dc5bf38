import { readdir, readFile } from "node:fs/promises";
import type { ProviderProcess } from "@sandkit/core";
import { type Mutant, overlay, withProcess, withSession, withSpawn } from "./mutant.js";

/** Signals host processes by number; those that are gone already do not matter. */
function signalAll(pids: readonly number[], signal: string): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

/** Host processes whose environment holds a text. */
async function withEnvironment(text: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
  return pids.filter((_, index) => found[index]?.includes(text)).map(Number);
}

/** What a provider says that looks at the leader alone. */
const goneWithLeader = (leader: ProviderProcess): Promise<void> => leader.exited.then(() => undefined);

/** The stream, cut off at a moment. */
function until(moment: Promise<void>, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const cut = moment.then(() => ({ done: true, value: undefined }) as const);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await Promise.race([reader.read(), cut]);
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** The tree is not dead when the call settles, or more than the tree is. */
export const killMutants: readonly Mutant[] = [
  {
    id: "kill-leader-only",
    description: "a kill reaches the leader alone, and its death counts as that of the tree",
    caughtBy: ["kill.timeout.child", "kill.abort.own-session", "kill.process.daemon", "process.dispose"],
    mutate: (provider) =>
      withProcess(provider, (started) => ({
        kill: async (signal) => signalAll([started.pid], signal),
        gone: goneWithLeader(started),
      })),
  },
  {
    id: "kill-process-group",
    description: "a kill reaches the process group of the leader, so a session of its own escapes",
    caughtBy: ["kill.timeout.own-session", "kill.abort.daemon"],
    mutate: (provider) =>
      withProcess(provider, (started) => ({
        kill: async (signal) => signalAll([-started.pid], signal),
        gone: goneWithLeader(started),
      })),
  },
  {
    id: "kill-by-environment",
    description: "a kill finds its processes by a variable of their environment, so a cleared one escapes",
    caughtBy: ["kill.timeout.double-fork", "kill.process.daemon"],
    mutate: (provider) =>
      withSpawn(provider, (spawn) => async (command, options) => {
        const mark = crypto.randomUUID();
        const started = await spawn(command, { ...options, env: { ...options.env, MARK: mark } });
        return overlay(started, {
          kill: async (signal) => signalAll(await withEnvironment(`MARK=${mark}`), signal),
          gone: goneWithLeader(started),
        });
      }),
  },
  {
    id: "kill-believed",
    description: "the tree counts as gone when its leader is, so a child that ignores SIGTERM lives on",
    caughtBy: ["kill.timeout.deaf-child", "kill.abort.deaf-child", "kill.process.deaf-child"],
    mutate: (provider) => withProcess(provider, (started) => ({ gone: goneWithLeader(started) })),
  },
  {
    id: "kill-never-sigkill",
    description: "SIGKILL is sent as SIGTERM, and the tree is believed dead after it",
    caughtBy: ["kill.timeout.ignore-term", "kill.grace.then-sigkill"],
    mutate: (provider) =>
      withProcess(provider, (started) => {
        let confirm = () => {};
        const believed = new Promise<void>((resolve) => {
          confirm = resolve;
        });
        return {
          async kill(signal) {
            await started.kill(signal === "SIGKILL" ? "SIGTERM" : signal);
            if (signal === "SIGKILL") confirm();
          },
          stdout: until(believed, started.stdout),
          stderr: until(believed, started.stderr),
          exited: Promise.race([started.exited, believed.then(() => ({ exitCode: null, signal: "SIGKILL" }))]),
          gone: Promise.race([started.gone, believed]),
        };
      }),
  },
  {
    id: "kill-at-once",
    description: "SIGTERM is sent as SIGKILL: a program cannot clean up",
    caughtBy: ["kill.grace.clean-up", "process.kill.named-signal"],
    mutate: (provider) => withProcess(provider, (started) => ({ kill: () => started.kill("SIGKILL") })),
  },
  {
    id: "kill-siblings",
    description: "a kill ends every command of the sandbox",
    caughtBy: ["kill.siblings"],
    mutate: (provider) =>
      withSession(provider, (session) => {
        const all = new Set<ProviderProcess>();
        return {
          async spawn(command, options) {
            const started = await session.spawn(command, options);
            all.add(started);
            return overlay(started, {
              async kill(signal) {
                await Promise.all([...all].map((one) => one.kill(signal)));
              },
            });
          },
        };
      }),
  },
  {
    id: "kill-sandbox",
    description: "a kill ends the whole sandbox",
    caughtBy: ["kill.files-stay", "kill.again-and-again"],
    mutate: (provider) => withProcess(provider, (_, session) => ({ kill: () => session.destroy() })),
  },
  {
    id: "kill-orphans-live",
    description: "once the leader has ended, what it left behind can no longer be killed",
    caughtBy: ["process.kill.orphans"],
    mutate: (provider) =>
      withProcess(provider, (started) => {
        let over = false;
        started.exited.finally(() => {
          over = true;
        });
        return {
          kill: async (signal) => (over ? undefined : started.kill(signal)),
          gone: goneWithLeader(started),
        };
      }),
  },
  {
    id: "kill-after-end-fails",
    description: "killing a process that has ended is an error",
    caughtBy: ["process.kill.after-end"],
    mutate: (provider) =>
      withProcess(provider, (started) => ({ kill: async (signal) => process.kill(started.pid, signal) && undefined })),
  },
];
