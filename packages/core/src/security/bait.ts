import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type ListenOptions, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./programs/bait.mjs", import.meta.url));
const variable = "SANDKIT_BAIT";

/** Things of this machine that no sandbox may find: a process, a file, a variable, a port and a socket. */
export class Bait implements AsyncDisposable {
  /** A word that nothing else on this machine has: in the command line of the process. */
  readonly mark = `sandkit-bait-${randomBytes(8).toString("hex")}`;
  /** What the file holds. */
  readonly secret = randomBytes(16).toString("hex");
  readonly file: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #servers: readonly Server[];
  #connections = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    this.file = join(folder, "secret");
    this.#process = spawn(process.execPath, [program, this.mark], { stdio: ["pipe", "ignore", "ignore"] });
    const count = process.platform === "linux" ? 2 : 1;
    this.#servers = Array.from({ length: count }, () =>
      createServer((socket) => {
        this.#connections += 1;
        socket.on("error", () => undefined).destroy();
      }),
    );
  }

  /** Lays it out. The variable is in this process until the bait is taken in again. */
  static async lay(): Promise<Bait> {
    const bait = new Bait(await mkdtemp(join(tmpdir(), "sandkit-security-")));
    // Whoever gets there may read it: what is to keep guests out is the sandbox, not the mode of a file.
    await chmod(bait.#folder, 0o755);
    await writeFile(bait.file, bait.secret);
    const [tcp, unix] = bait.#servers;
    if (tcp) await listen(tcp, { port: 0, host: "0.0.0.0" });
    if (unix) await listen(unix, { path: `\0${bait.mark}` });
    process.env[variable] = bait.mark;
    return bait;
  }

  /** How often anybody connected to the port or the socket. */
  get connections(): number {
    return this.#connections;
  }

  /** False once somebody has killed the process. */
  get lives(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Where to look, as the programs of the attacks take it. */
  env(): Record<string, string> {
    const address = this.#servers[0]?.address();
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const hosts = new Set([
      "127.0.0.1",
      ...all.filter(({ family }) => family === "IPv4").map(({ address }) => address),
    ]);
    return {
      SANDKIT_MARK: this.mark,
      SANDKIT_BAIT_FILE: this.file,
      SANDKIT_BAIT_SECRET: this.secret,
      SANDKIT_BAIT_PORT: typeof address === "object" && address !== null ? String(address.port) : "0",
      SANDKIT_BAIT_ADDRESSES: [...hosts].join(" "),
      SANDKIT_BAIT_ABSTRACT: this.#servers.length > 1 ? this.mark : "",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    delete process.env[variable];
    for (const server of this.#servers) server.close();
    if (this.lives) {
      const ended = once(this.#process, "exit");
      this.#process.kill();
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function listen(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, "listening");
  server.unref();
}

/** Processes of this machine whose command line has the mark; empty where the system does not tell (not Linux). */
export async function processesWith(mark: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    // One that has ended while we looked is none.
    const line = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    if (line.includes(mark)) found.push(Number(entry));
  }
  return found;
}
