import { FileError } from "./file-error.js";
import type { OperationCall, Operations } from "./operation.js";
import type { StartedPrograms } from "./started-programs.js";

/** What interpreters and shells ask about the programs that they start. */
export function programOperations(programs: StartedPrograms): Operations {
  const done = (action: (program: unknown, ...args: unknown[]) => void) => {
    return ({ worker: { link } }: OperationCall, program: unknown, ...args: unknown[]) => {
      action(program, ...args);
      link.reply(null);
    };
  };
  return {
    spawn: ({ worker: { link } }, runner, argv, place, stdin) => {
      try {
        link.reply(programs.spawn(runner, argv, place, stdin));
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        link.reply({ error: error.errno });
      }
    },
    kill: done((program, signal) => programs.kill(program, signal)),
    abandon: done((program) => programs.abandon(program)),
    feed: ({ worker: { link }, data }, program) => link.reply(programs.feed(program, data)),
    collect: ({ worker: { link } }, program, ms) =>
      programs.collect(program, ms, (news, bytes) => {
        if (bytes) link.replyArea.set(bytes);
        link.reply(news, bytes?.length);
      }),
    // The same where bytes can only go as text.
    feedText: ({ worker: { link } }, program, text) =>
      link.reply(programs.feed(program, typeof text === "string" ? Buffer.from(text, "base64") : undefined)),
    collectText: ({ worker }, program, ms) => {
      // A signal that came between the interpreter's last look and this wait would otherwise wait as long.
      const wait = worker.signalPending ? 0 : ms;
      programs.collect(program, wait, (news, bytes) =>
        worker.link.reply(bytes ? { ...news, data: Buffer.from(bytes).toString("base64") } : news),
      );
    },
  };
}
