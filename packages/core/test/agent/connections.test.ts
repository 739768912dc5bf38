import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { connect as connectTo, createServer } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { type AgentRuntime, agentCommand, bridgeCommand } from "../../src/agent/guest-source.js";
import { capabilities } from "../../src/index.js";
import { type AgentSession, agentSession, type ServedNetwork, streamChannel } from "../../src/kit.js";
import { python } from "./guest-client.js";

const patient = { timeout: 10_000 };
const sessions: AgentSession[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.destroy();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A session over an agent on this machine, or over what leads to it, whose connections are served by `accept`. */
async function session(child: ChildProcess, network?: ServedNetwork): Promise<AgentSession> {
  if (!child.stdin || !child.stdout) throw new Error("a child without pipes");
  const made = await agentSession(streamChannel({ readable: child.stdout, writable: child.stdin }), {
    ref: { provider: "test", id: "box" },
    capabilities: capabilities({
      isolation: "none",
      features: { exec: "native", "exec.killTree": "native", ports: "native" },
    }),
    workdir: "/tmp",
    network,
    info: async () => ({ state: "running", origin: "created", createdAt: new Date(), labels: {} }),
    destroy: async () => {
      child.kill("SIGKILL");
    },
  });
  sessions.push(made);
  return made;
}

function start([program = "", ...args]: readonly string[]): ChildProcess {
  return spawn(program === "python3" ? python : program, args, { stdio: ["pipe", "pipe", "inherit"] });
}

async function served(runtime: AgentRuntime, accept: (connection: Duplex) => void) {
  const port = await freePort();
  return { session: await session(start(await agentCommand(runtime)), { port, accept }), port };
}

/** Runs a program of Python in the box to its end; its output. */
async function run(session: AgentSession, code: string): Promise<string> {
  const process = await session.spawn([python, "-c", code], { stdin: false, mergeStderr: true });
  const output = await new Response(process.stdout).text();
  await process.gone;
  return output;
}

const connect = (port: number) => `
import socket, sys
peer = socket.create_connection(("127.0.0.1", ${port}))
`;

async function text(connection: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  connection.on("data", (piece: Buffer) => pieces.push(piece));
  await once(connection, "end");
  return Buffer.concat(pieces).toString();
}

for (const runtime of ["python", "node"] as const) {
  describe(`connections out of a box with the agent in ${runtime}`, () => {
    it("arrive as streams with an end of their own in each direction", async () => {
      const { session, port } = await served(runtime, async (connection) => {
        const asked = await text(connection);
        connection.end(asked.toUpperCase().repeat(100_000));
      });
      const output = await run(
        session,
        `${connect(port)}
peer.sendall(b"question")
peer.shutdown(socket.SHUT_WR)
answer = b"".join(iter(lambda: peer.recv(65536), b""))
print(len(answer), answer[:8].decode(), answer == b"QUESTION" * 100000)
`,
      );
      expect(output).toBe("800000 QUESTION True\n");
    });

    it("tell a reset from an end, both ways", async () => {
      const errors: string[] = [];
      let first = true;
      const { session, port } = await served(runtime, (connection) => {
        connection.on("error", (error: NodeJS.ErrnoException) => errors.push(error.code ?? error.message));
        if (first) connection.once("data", () => connection.destroy());
        else connection.resume();
        first = false;
      });
      const output = await run(
        session,
        `${connect(port)}
peer.sendall(b"x")
try:
    print(peer.recv(1))
except ConnectionResetError:
    print("reset")
other = socket.create_connection(("127.0.0.1", ${port}))
other.sendall(b"y")
# Node takes a reset that comes along with data for an end.
import time
time.sleep(0.2)
other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
other.close()
`,
      );
      expect(output).toBe("reset\n");
      await expect.poll(() => errors, patient).toEqual(["ECONNRESET"]);
    });

    it("hold up neither commands nor each other when one side does not read", async () => {
      const held: Duplex[] = [];
      let sent = 0;
      const { session, port } = await served(runtime, (connection) => {
        held.push(connection);
        connection.once("data", (first: Buffer) => {
          // A download that nobody in the box reads, an upload that nobody reads here, and one that goes.
          if (first[0] === 0x64) connection.write(Buffer.alloc(64 * 1024 * 1024), () => (sent += 1));
          else if (first[0] === 0x75) connection.pause();
          else connection.end("fine");
        });
      });
      const stuck = await session.spawn(
        [
          python,
          "-c",
          `${connect(port)}
peer.sendall(b"d")
other = socket.create_connection(("127.0.0.1", ${port}))
other.setblocking(False)
total = other.send(b"u")
import time
while total < 1 << 22:
    try:
        total += other.send(bytes(65536))
        quiet = 0
    except BlockingIOError:
        quiet += 1
        if quiet > 20: break
        time.sleep(0.02)
sys.stdout.write("stuck %s\\n" % (total < 1 << 25))
sys.stdout.flush()
time.sleep(60)
`,
        ],
        { stdin: false, mergeStderr: true },
      );
      const reader = stuck.stdout.getReader();
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("stuck True\n");
      const output = await run(session, `${connect(port)}\npeer.sendall(b"go")\nprint(peer.recv(100))`);
      expect(output).toBe("b'fine'\n");
      expect(sent).toBe(0);
      expect(held.map((connection) => connection.destroyed)).toEqual([false, false, true]);
      await stuck.kill("SIGKILL");
      // As with TCP, who does not read learns nothing, and an end of one direction leaves the other.
      held[1]?.resume().end();
      await expect.poll(() => held.every((connection) => connection.destroyed), patient).toBe(true);
    });

    it("wait for their turn when there are thousands at one time, and all are served", async () => {
      const many = runtime === "python" ? 10_000 : 2_000;
      let open = 0;
      let most = 0;
      const { session, port } = await served(runtime, (connection) => {
        open += 1;
        most = Math.max(most, open);
        connection.once("close", () => (open -= 1));
        connection.once("data", (name: Buffer) => connection.end(name));
        connection.resume();
      });
      const output = await run(
        session,
        `
import resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4000))
done = 0
for start in range(0, ${many}, 1000):
    names = [b"%d" % index for index in range(start, start + 1000)]
    peers = []
    for name in names:
        peers.append(socket.create_connection(("127.0.0.1", ${port})))
        peers[-1].sendall(name)
    for name, peer in zip(names, peers):
        done += peer.recv(100) == name
        peer.close()
print(done)
`,
      );
      expect(output).toBe(`${many}\n`);
      expect(most).toBeLessThanOrEqual(128);
      await expect.poll(() => open, patient).toBe(0);
    });
  });

  describe(`ports of a box with the agent in ${runtime}`, () => {
    it("let HTTP in by the token alone, and carry everything byte for byte", async () => {
      const { session } = await served(runtime, (connection) => connection.destroy());
      const [web, plain] = [await freePort(), await freePort()];
      await rejection(session.port(web, { waitMs: 1 }), "UNAVAILABLE");
      const closed = await session.port(web);
      expect((await fetch(closed.url, { headers: closed.headers ?? {} })).status).toBe(502);
      const server = await session.spawn([python, "-c", boxServers(web, plain)], { stdin: false, mergeStderr: true });
      const { url, headers = {} } = await session.port(web, { waitMs: 10_000 });
      expect(url).toBe(closed.url);
      let uses = 0;
      session.onUse(() => {
        uses += 1;
      });

      expect((await fetch(url)).status).toBe(403);
      expect((await fetch(url, { headers: { "x-sandkit-token": "0".repeat(40) } })).status).toBe(403);
      // What a page can make its browser say, whose name it has led to this machine.
      for (const line of ["x / HTTP/1.1", "M-SEARCH / HTTP/1.1", `GET /${"a".repeat(70_000)} HTTP/1.1`]) {
        expect(await said(new URL(url), `${line}\r\nHost: page.test\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
      }
      // Who was refused and goes on talking does not keep a connection.
      const stays = connectTo({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
      stays.on("error", () => undefined).write("GET / HTTP/1.1\r\nHost: page.test\r\n\r\n");
      const talking = setInterval(() => stays.write("x"), 50);
      // To be cut off is an error for it.
      await new Promise((resolve) => stays.resume().once("close", resolve));
      clearInterval(talking);
      const upload = randomBytes(3_000_000);
      const hash = createHash("sha256").update(upload).digest("hex");
      const posted = await fetch(`${url}/path?query`, { method: "POST", body: upload, headers });
      expect(await posted.text()).toBe(`/path?query ${hash}`);
      expect(await browse(url, headers["x-sandkit-token"] ?? "")).toBe("/ 0");

      const { url: raw } = await session.port(plain, { waitMs: 10_000 });
      const peer = connectTo({ port: Number(new URL(raw).port), host: "127.0.0.1", allowHalfOpen: true });
      // The server speaks first, and what follows is no HTTP.
      expect((await once(peer, "data"))[0].toString()).toBe("220 ready\n");
      // Another user can have the port of an own connection, at another address of the loopback.
      const stranger = { localAddress: "127.0.0.2", localPort: peer.localPort };
      if (process.platform === "linux")
        expect(await said(new URL(raw), "hello\n", stranger)).toMatch(/^HTTP\/1\.1 403 /);
      peer.end(Buffer.concat([Buffer.from("GET me "), upload]));
      expect(await text(peer)).toBe(createHash("sha256").update("GET me ").update(upload).digest("hex"));
      expect(uses).toBeGreaterThan(0);

      for (let more = 3; more <= 64; more++) await session.port(more);
      await rejection(session.port(65), "QUOTA");
      expect(await session.port(web)).toMatchObject({ url });

      await server.kill("SIGKILL");
      await session.destroy();
      await expect(fetch(url, { headers })).rejects.toThrow("fetch failed");
    });
  });
}

describe("connections out of a box with several clients", () => {
  it("are served by who has offered first, then by the next; without any, they are told so", async () => {
    const [port, name] = [await freePort(), `sandkit-test-${process.pid}`];
    const agent = start(await agentCommand("python", ["detached", "0", name]));
    const client = async (says?: string) => {
      const accept = (connection: Duplex) => connection.once("data", () => connection.write(says ?? ""));
      return session(start(await bridgeCommand([name])), says === undefined ? undefined : { port, accept });
    };
    try {
      const first = await client("first");
      const second = await client("second");
      const watcher = await client();
      const running = await watcher.spawn([python, "-c", askAgain(port)], { stdin: true, mergeStderr: true });
      const answers = running.stdout.getReader();
      const answer = async () => Buffer.from((await answers.read()).value ?? []).toString();
      expect(await answer()).toBe("first\n");
      await first.leave();
      expect(await answer()).toBe("reset\n");
      await running.write(Buffer.from("\n"));
      expect(await answer()).toBe("second\n");
      await second.leave();
      expect(await answer()).toBe("reset\n");
      await running.write(Buffer.from("\n"));
      expect(await answer()).toMatch(/^HTTP\/1\.1 503 /);
      await running.kill("SIGKILL");
    } finally {
      agent.kill("SIGKILL");
    }
  });
});

/** Asks, waits for the connection to break, and for a line, and asks again. */
const askAgain = (port: number) => `${connect(port)}
while True:
    peer.sendall(b"x")
    sys.stdout.write(peer.recv(1000).split(b"\\r\\n")[0].decode() + "\\n")
    sys.stdout.flush()
    try:
        if peer.recv(1): break
    except ConnectionResetError:
        pass
    sys.stdout.write("reset\\n")
    sys.stdout.flush()
    sys.stdin.readline()
    peer = socket.create_connection(("127.0.0.1", ${port}))
`;

/** A web server and one that greets and then says the hash of all that it reads. */
const boxServers = (web: number, plain: number) => `
import hashlib, http.server, socketserver, threading
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer("0")
    def do_POST(self):
        self.answer(hashlib.sha256(self.rfile.read(int(self.headers["content-length"]))).hexdigest())
    def answer(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write((self.path + " " + text).encode())
class Plain(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 ready\\n")
        self.wfile.write(hashlib.sha256(self.rfile.read()).hexdigest().encode())
threading.Thread(target=socketserver.TCPServer(("127.0.0.1", ${plain}), Plain).serve_forever).start()
class Six(http.server.ThreadingHTTPServer):
    address_family = 10
Six(("::1", ${web}), Web).serve_forever()
`;

/** What comes back for these words, to the end. */
async function said({ port }: URL, words: string, from: object = {}): Promise<string> {
  const peer = connectTo({ port: Number(port), host: "127.0.0.1", ...from });
  peer.write(words);
  return text(peer);
}

/** What a browser does with the token before \`.localhost\`. */
async function browse(url: string, token: string): Promise<string> {
  const { port } = new URL(url);
  const asked = request({ port, host: "127.0.0.1", headers: { host: `${token}.localhost:${port}` } }).end();
  const [response] = await once(asked, "response");
  return text(response);
}

async function rejection(promise: Promise<unknown>, code: string): Promise<void> {
  await expect(promise).rejects.toMatchObject({ code });
}
