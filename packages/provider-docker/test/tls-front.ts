import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";

/** Whether certificates can be made here. */
export const opensslIsThere = spawnSync("openssl", ["version"]).status === 0;

/** The engine's socket behind TLS, which wants a certificate of its own authority. */
export class TlsFront {
  readonly folder: string;
  readonly #server: Server;

  static async start(socketPath: string): Promise<TlsFront> {
    const folder = await mkdtemp(join(tmpdir(), "sandkit-tls-"));
    for (const authority of ["ours", "others"]) await makeCertificates(`${folder}/${authority}`);
    const pem = (name: string) => readFileSync(`${folder}/ours/${name}.pem`);
    const options = { key: pem("server-key"), cert: pem("server"), ca: pem("ca"), requestCert: true };
    const server = createServer(options, (socket) => {
      const engine = connect(socketPath);
      for (const [from, to] of [[socket, engine] as const, [engine, socket] as const]) {
        from.on("error", () => to.destroy()).on("close", () => to.destroy());
        from.pipe(to);
      }
    });
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TlsFront(folder, server);
  }

  private constructor(folder: string, server: Server) {
    this.folder = folder;
    this.#server = server;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the front does not listen");
    return address.port;
  }

  /** Folder with `ca.pem`, `cert.pem` and `key.pem`: those of the named authorities. */
  async certificates(trusted: "ours" | "others", shown: "ours" | "others"): Promise<string> {
    const folder = `${this.folder}/${trusted}-${shown}`;
    await mkdir(folder, { recursive: true });
    const files = {
      "ca.pem": `${trusted}/ca.pem`,
      "cert.pem": `${shown}/client.pem`,
      "key.pem": `${shown}/client-key.pem`,
    };
    for (const [name, from] of Object.entries(files)) {
      await writeFile(`${folder}/${name}`, await readFile(`${this.folder}/${from}`));
    }
    return folder;
  }

  async stop(): Promise<void> {
    this.#server.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** An authority, and what it has signed for a server on 127.0.0.1 and for a client. */
async function makeCertificates(folder: string): Promise<void> {
  await mkdir(folder);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...key, "-subj", "/CN=ca", "-keyout", "ca-key.pem", "-out", "ca.pem");
  for (const [name, extension] of [
    ["server", "subjectAltName=IP:127.0.0.1"],
    ["client", "extendedKeyUsage=clientAuth"],
  ] as const) {
    const signer = [
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca-key.pem",
      "-addext",
      extension,
      "-addext",
      "basicConstraints=CA:FALSE",
    ];
    openssl(
      "req",
      "-x509",
      ...key,
      ...signer,
      "-subj",
      `/CN=${name}`,
      "-keyout",
      `${name}-key.pem`,
      "-out",
      `${name}.pem`,
    );
  }
}
