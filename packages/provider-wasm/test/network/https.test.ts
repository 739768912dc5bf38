import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const run = promisify(execFile);
const directory = await mkdtemp(join(tmpdir(), "sandkit-https-"));
const [keyFile, certFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
const client = fileURLToPath(new URL("https-client.mjs", import.meta.url));

/** Whether this machine's openssl could make a certificate for this machine. */
async function made(): Promise<boolean> {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", keyFile, "-out", certFile];
  try {
    await run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files]);
    return true;
  } catch (error) {
    console.warn(`https is not tested, because openssl makes no certificate here: ${error}`);
    return false;
  }
}

describe.skipIf(!(await made()))("https", async () => {
  const [key, cert] = await Promise.all([readFile(keyFile, "utf8"), readFile(certFile, "utf8")]);
  const server = new WebServer({ key, cert });
  await server.start();
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  const url = `https://localhost:${server.port}/hello`;

  it("reaches a host whose certificate this program trusts", async () => {
    const { stdout } = await run(process.execPath, [client, url], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile },
      timeout: 50_000,
    });
    expect(JSON.parse(stdout)).toEqual({ python: [200, "hello"], javascript: "hello", shell: "hello" });
  }, 60_000);

  it("refuses every other certificate, and no guest can switch that off", async () => {
    const sandbox = await createSandbox(wasm(), { network: { allow: [`localhost:${server.port}`, server.host] } });
    try {
      const cell = await sandbox.runCode(`
import ssl, urllib.request
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
found = []
for address in ("${url}", "${server.url}/hello"):
    try: urllib.request.urlopen(address, context=context)
    except urllib.error.URLError as error: found.append([type(error.reason).__name__, "certificate" in str(error.reason)])
found`);
      expect([cell.error, cell.value]).toEqual([
        undefined,
        [
          ["SSLCertVerificationError", true],
          ["SSLCertVerificationError", true],
        ],
      ]);
      const shell = await sandbox.exec(["curl", "-sS", url]);
      expect([shell.exitCode, shell.stderr.text]).toEqual([60, expect.stringContaining("certificate")]);
    } finally {
      await sandbox.destroy();
    }
  });

  it("what speaks no TLS is an error that says so", async () => {
    const plain = new WebServer();
    await plain.start();
    const sandbox = await createSandbox(wasm(), { network: { allow: [plain.host] } });
    try {
      const shell = await sandbox.exec(["curl", "-sS", `https://${plain.host}/`]);
      expect([shell.exitCode, shell.stderr.text]).toEqual([
        35,
        expect.stringMatching(/127\.0\.0\.1: [a-z ]+ \(EPROTO\)\n$/),
      ]);
    } finally {
      await Promise.all([sandbox.destroy(), plain.stop()]);
    }
  });
});
