import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createWebServer } from "node:http";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { helloOf } from "./hello-of.js";
import { leadingTo, Proxied, rest } from "./proxied.js";

/** An address of this machine at which nobody else is expected, also not at ports 80 and 443. */
const address = "127.0.0.77";
const seams = { resolve: leadingTo(address), isPublic: (ip: string) => ip === address };

/** A certificate for these names, or why there is none. */
async function certificate(): Promise<{ key: string; cert: string } | string> {
  const directory = await mkdtemp(join(tmpdir(), "sandkit-tls-"));
  const [keyFile, certFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=good.example", "-addext", "subjectAltName=DNS:good.example"];
  const files = ["-keyout", keyFile, "-out", certFile];
  try {
    await promisify(execFile)("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"],
      ...[...subject, ...files],
    ]);
    return { key: await readFile(keyFile, "utf8"), cert: await readFile(certFile, "utf8") };
  } catch (error) {
    return `openssl makes no certificate here: ${error}`;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Has a server listen at a port of the web, or tells why it cannot. */
async function at(server: Server, port: number): Promise<string | undefined> {
  server.listen(port, address);
  return once(server, "listening").then(
    () => undefined,
    (error: Error) => error.message,
  );
}

const made = await certificate();
let received = 0;
const secure = createServer(typeof made === "string" ? {} : made, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.end("hello");
});
secure.on("connection", (socket) => {
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
});
const web = createWebServer((request, response) => response.end(`web ${request.headers.host} ${request.url}`));
const missing = typeof made === "string" ? made : ((await at(secure, 443)) ?? (await at(web, 80)));
if (missing) console.warn(`tunnels to the ports of the web are not tested, because this machine cannot: ${missing}`);
const ca = typeof made === "string" ? "" : made.cert;

describe.skipIf(missing !== undefined)("a tunnel to port 443", async () => {
  const own = await Proxied.start({
    allow: ["good.example", "other.example", address],
    seams,
  });
  const hasty = await Proxied.start({ allow: ["good.example"], seams, limits: { headerMs: 100 } });
  afterAll(async () => {
    await Promise.all([own.stop(), hasty.stop()]);
    secure.close();
    web.close();
  });

  /** What the server says to a client of TLS, or why not. */
  async function handshake(authority: string, servername: string): Promise<string> {
    const { socket } = await own.tunnel(authority);
    const client = connect({ socket, servername, ca });
    const answer = await new Promise<string>((resolve) => {
      client.on("data", (data) => resolve(data.toString())).on("error", (error) => resolve(error.message));
    });
    client.destroy();
    return answer;
  }

  it("carries TLS to its own name, and tells what it carried", async () => {
    expect(await handshake("good.example:443", "good.example")).toBe("hello");
    await expect.poll(() => own.contacts.length).toBe(1);
    expect(own.contacts[0]).toMatchObject({ host: "good.example", port: 443, protocol: "tls", decision: "allowed" });
    expect(own.contacts[0]?.bytesIn).toBeGreaterThan(1_000);
    expect(own.contacts[0]?.bytesOut).toBeGreaterThan(300);
  });

  it("carries it where each byte comes alone", async () => {
    const { socket } = await own.tunnel("good.example:443");
    socket.setNoDelay();
    for (const byte of await helloOf("good.example")) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [answer] = (await once(socket.resume(), "data")) as [Buffer];
    expect([...answer.subarray(0, 2)]).toEqual([22, 3]);
    socket.destroy();
    await expect.poll(() => own.contacts.length).toBe(2);
  });

  it("refuses all else without a byte to the host: another name, none, another protocol, half a word, silence", async () => {
    received = 0;
    own.contacts.length = 0;
    expect(await handshake("good.example:443", "other.example")).toContain("alert access denied");
    expect(await handshake("good.example:443", "")).toContain("alert access denied");
    expect(await handshake(`${address}:443`, "good.example")).toContain("alert access denied");
    const clear = await own.tunnel("good.example:443");
    clear.socket.write("GET / HTTP/1.1\r\nHost: good.example\r\n\r\n");
    expect(await rest(clear.socket)).toContain("only TLS is spoken at port 443, and this is none");
    const shell = await own.tunnel("good.example:443");
    shell.socket.write("SSH-2.0-OpenSSH_9\r\n");
    expect(await rest(shell.socket)).toBe("");
    const half = await hasty.tunnel("good.example:443");
    half.socket.write((await helloOf("good.example")).subarray(0, 100));
    await rest(half.socket);
    const silent = await hasty.tunnel("good.example:443");
    expect(await rest(silent.socket)).toBe("");
    await expect.poll(() => own.contacts.length + hasty.contacts.length).toBe(7);
    const contacts = [...own.contacts, ...hasty.contacts];
    expect(contacts.map(({ decision }) => decision)).toEqual(Array(7).fill("refused"));
    expect(contacts.map(({ reason }) => reason)).toEqual(
      [
        'its TLS asks for "other.example", which is another name',
        "its TLS names no server",
        "the tunnel is to an address",
        "only TLS is spoken",
        "only TLS is spoken",
        "did not come to its end",
        "nothing was said",
      ].map((words) => expect.stringContaining(words)),
    );
    expect(received).toBe(0);
  });

  it("needs no name for a listed address", async () => {
    expect(await handshake(`${address}:443`, "")).toMatch(/hello|does not match|self-signed/);
  });

  it("is held to nothing where everything public is allowed", async () => {
    const open = await Proxied.start({ allow: "public", seams });
    const { socket } = await open.tunnel("good.example:443");
    const client = connect({ socket, servername: "other.example", ca, checkServerIdentity: () => undefined });
    expect(String((await once(client, "data"))[0])).toBe("hello");
    await open.stop();
  });

  it("to port 80 is HTTP in the clear, request by request", async () => {
    const asks = (host: string, path: string, ...more: string[]) =>
      `GET ${path} HTTP/1.1\r\n${[`Host: ${host}`, ...more].join("\r\n")}\r\n\r\n`;
    own.contacts.length = 0;
    const answer = await own.say([
      "CONNECT good.example:80 HTTP/1.1\r\n\r\n",
      asks("good.example", "/1") + asks("evil.example", "/2"),
      asks("good.example", "http://other.example/3"),
      asks("good.example:80", "/4", "Connection: close"),
    ]);
    expect(answer.match(/HTTP\/1\.1 \d+|web \S+ \/\d/g)).toEqual([
      ...["HTTP/1.1 200", "HTTP/1.1 200", "web good.example /1", "HTTP/1.1 403"],
      ...["HTTP/1.1 403", "HTTP/1.1 200", "web good.example /4"],
    ]);
    expect(own.contacts.map(({ protocol, decision }) => `${protocol} ${decision}`)).toEqual([
      ...["http allowed", "http refused", "http refused", "http allowed"],
    ]);
    const noise = await own.say(["CONNECT good.example:80 HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n"]);
    expect(noise).toContain("400 Bad Request: what came is no request of HTTP/1.1");
  });
});
