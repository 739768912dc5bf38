import { randomUUID } from "node:crypto";
import type { GitCredentials } from "./git-options.js";

/** Puts our pipe out of the way of git's own input and output: 3 brings credentials, on 4 they are asked for. */
const withPipe = 'exec 3<&0 4>&2 </dev/null; exec git "$@"';

/** Programs that a repository can have git start, which would have the pipe too. */
const withoutPrograms = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "push.gpgSign=false"];

/**
 * Gives credentials to one git command: over a pipe, each time its server asks for them, and otherwise not at all.
 * git asks by starting a helper; ours says so by a mark that nobody else knows and copies three lines from the pipe.
 * The helpers and questions that the sandbox has set up are left out: they could keep what they are given. So are the
 * hooks of the repository: they have the pipe as well, and could ask.
 */
export class CredentialFeed {
  /** Input of the command. */
  readonly stdin: ReadableStream<Uint8Array>;
  readonly #mark = `sandkit-credentials-${randomUUID()}`;
  readonly #server: string;
  #rest = "";
  #give: () => void = () => undefined;

  constructor({ username, password }: GitCredentials, server: string) {
    this.#server = server;
    const answer = new TextEncoder().encode(`username=${username}\npassword=${password}\n\n`);
    this.stdin = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#give = () => controller.enqueue(answer.slice());
      },
      cancel: () => {
        this.#give = () => undefined;
      },
    });
  }

  /** The command that runs git with these arguments and can ask. */
  command(args: readonly string[]): readonly string[] {
    const copy = `while IFS= read -r l <&3 && test -n "$l"; do printf '%s\\n' "$l"; done`;
    const helper = `!f() { test "$1" = get || exit 0; echo ${this.#mark} >&4; ${copy}; }; f`;
    const settings = [...withoutPrograms, "credential.helper=", `credential.${this.#server}.helper=${helper}`];
    return ["sh", "-c", withPipe, "git", ...settings.flatMap((setting) => ["-c", setting]), ...args];
  }

  /** Environment of the command: nobody is to be asked in another way. */
  get env(): Readonly<Record<string, string>> {
    return { GIT_ASKPASS: "" };
  }

  /** Takes notice of what the command writes to stderr. */
  watch(text: string): void {
    const lines = (this.#rest + text).split("\n");
    // Only how a line ends counts.
    this.#rest = lines.pop()?.slice(-this.#mark.length) ?? "";
    for (const line of lines) if (this.isMark(line)) this.#give();
  }

  /** Whether a line of stderr asks for credentials; what another program began to write may stand before. */
  isMark(line: string): boolean {
    return line.endsWith(this.#mark);
  }

  /** What the command wrote, without the marks. */
  clean(text: string): string {
    return text.replaceAll(`${this.#mark}\n`, "");
  }
}
