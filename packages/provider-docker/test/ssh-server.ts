import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { engineIsThere } from "./engine.js";

const program = "/usr/sbin/sshd";

/** Whether engines over ssh can be tested here. `npm test` installs a server where it may, and then it must be there. */
export const sshIsThere = look();

function look(): boolean {
  const found = process.getuid?.() === 0 && [program, "ssh"].every((name) => !spawnSync(name, ["-V"]).error);
  if (found && engineIsThere) return true;
  if (process.env.SANDKIT_TEST_PROGRAM_SSHD === "1") throw new Error("sshd was installed and does not start");
  console.warn("SKIPPED: engines over ssh are tested as root, with openssh-server and openssh-client.");
  return false;
}

/** A server on loopback that lets this user in with a key of the test's own, and a folder with the `ssh` that has it. */
export class SshServer {
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly port: number;

  static async start(): Promise<SshServer> {
    const folder = await mkdtemp(join(tmpdir(), "sandkit-ssh-"));
    for (const name of ["host", "user", "stranger"]) {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", `${folder}/${name}`]);
    }
    await writeFile(`${folder}/authorized`, await readFile(`${folder}/user.pub`));
    await mkdir(`${folder}/bin`);
    await writeFile(`${folder}/bin/ssh`, `#!/bin/sh\nexec /usr/bin/ssh -F ${folder}/client "$@"\n`);
    await chmod(`${folder}/bin/ssh`, 0o755);
    // Where it gives its rights up, as the init system would make it.
    await mkdir("/run/sshd", { recursive: true });
    const port = await freePort();
    const settings = {
      Port: port,
      ListenAddress: "127.0.0.1",
      HostKey: `${folder}/host`,
      AuthorizedKeysFile: `${folder}/authorized`,
      PidFile: "none",
      StrictModes: "no",
      UsePAM: "no",
      PasswordAuthentication: "no",
      KbdInteractiveAuthentication: "no",
      PermitRootLogin: "prohibit-password",
      MaxStartups: 100,
      // What the user's shell does first on this machine may take any time, or wait for another.
      SetEnv: `HOME=${folder}`,
    };
    await writeFile(`${folder}/server`, lines(settings));
    const server = spawn(program, ["-D", "-e", "-f", `${folder}/server`], { stdio: ["ignore", "ignore", "pipe"] });
    const made = new SshServer(folder, server, port);
    await made.trust("user", false);
    await listens(server, port);
    return made;
  }

  private constructor(folder: string, server: ChildProcess, port: number) {
    this.#folder = folder;
    this.#server = server;
    this.port = port;
  }

  get host(): string {
    return `ssh://root@127.0.0.1:${this.port}`;
  }

  /** PATH on which `ssh` is the one with these keys. */
  get path(): string {
    return `${this.#folder}/bin:${process.env.PATH}`;
  }

  /** Which key the client has, and whether it knows the server's. */
  async trust(key: "user" | "stranger", isKnown: boolean): Promise<void> {
    const folder = this.#folder;
    const hostKey = (await readFile(`${folder}/host.pub`, "utf8")).split(" ").slice(0, 2).join(" ");
    await writeFile(`${folder}/known`, isKnown ? `[127.0.0.1]:${this.port} ${hostKey}\n` : "");
    const settings = {
      IdentityFile: `${folder}/${key}`,
      IdentitiesOnly: "yes",
      UserKnownHostsFile: `${folder}/known`,
      GlobalKnownHostsFile: "/dev/null",
    };
    await writeFile(`${folder}/client`, lines(settings));
  }

  async stop(): Promise<void> {
    if (this.#server.exitCode === null) {
      this.#server.kill();
      await once(this.#server, "exit");
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function lines(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

async function listens(server: ChildProcess, port: number): Promise<void> {
  let words = "";
  server.stderr?.on("data", (text) => {
    words += text;
  });
  for (let round = 0; round < 100; round++) {
    if (server.exitCode !== null) break;
    const socket = connect(port, "127.0.0.1");
    const answers = await Promise.race([
      once(socket, "connect").then(
        () => true,
        () => false,
      ),
      setTimeout(1_000, false),
    ]);
    socket.destroy();
    if (answers) return;
    await setTimeout(50);
  }
  throw new Error(`sshd does not listen: ${words}`);
}
