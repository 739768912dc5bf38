import { createHash } from "node:crypto";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createSandbox } from "@sandkit/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";
import { opensslIsThere, TlsFront } from "./tls-front.js";

const kept = { ...process.env };
afterEach(() => {
  for (const name of ["DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_HOST"]) {
    if (kept[name] === undefined) delete process.env[name];
    else process.env[name] = kept[name];
  }
});

describe.skipIf(!engineIsThere || !opensslIsThere)("an engine over TLS", () => {
  let front: TlsFront;
  let host: string;
  beforeAll(async () => {
    front = await TlsFront.start("/var/run/docker.sock");
    host = `tcp://127.0.0.1:${front.port}`;
  });
  afterAll(() => front?.stop());
  const images = testImages;

  it("is used with the certificates of DOCKER_CERT_PATH", async () => {
    process.env.DOCKER_CERT_PATH = await front.certificates("ours", "ours");
    process.env.DOCKER_HOST = host;
    const sandbox = await createSandbox(docker({ images, pull: "never" }));
    expect((await sandbox.exec("wc -c", { stdin: "x".repeat(300_000) })).stdout.text.trim()).toBe("300000");
    await sandbox.destroy();
  });

  it("is used with those of a context", async () => {
    const config = `${front.folder}/config`;
    const hash = createHash("sha256").update("far").digest("hex");
    await mkdir(`${config}/contexts/meta/${hash}`, { recursive: true });
    await mkdir(`${config}/contexts/tls/${hash}`, { recursive: true });
    await cp(await front.certificates("ours", "ours"), `${config}/contexts/tls/${hash}/docker`, { recursive: true });
    const context = { Name: "far", Endpoints: { docker: { Host: host, SkipTLSVerify: false } } };
    await writeFile(`${config}/contexts/meta/${hash}/meta.json`, JSON.stringify(context));
    Object.assign(process.env, { DOCKER_CONFIG: config, DOCKER_CONTEXT: "far" });
    delete process.env.DOCKER_HOST;
    const { ok, facts } = await docker().check();
    expect({ ok, found: facts?.found }).toEqual({ ok: true, found: 'context "far"' });
  });

  it("is refused with the reason, where something does not fit", async () => {
    const why = async (certificates: string | undefined, address = host) => {
      if (certificates === undefined) delete process.env.DOCKER_CERT_PATH;
      else process.env.DOCKER_CERT_PATH = certificates;
      const { ok, facts = {}, detail, fix = [] } = await docker({ host: address }).check();
      expect(ok).toBe(false);
      return `${Object.values(facts).join()} ${detail} ${fix.join()}`;
    };
    const right = await front.certificates("ours", "ours");
    expect(await why(await front.certificates("others", "ours"))).toMatch(/signed by nobody known here.*ca\.pem/);
    expect(await why(await front.certificates("ours", "others"))).toMatch(
      /hung up over TLS.*does not accept our certificate/,
    );
    expect(await why(right, host.replace("127.0.0.1", "localhost"))).toMatch(/certificate is of another name/);
    expect(await why(undefined)).toMatch(/it hung up.*TLS/);
    expect(await why(front.folder)).toMatch(/ca.pem and cert.pem and key.pem not in .*copy them/);
    const plain = createServer((_, answer) => answer.end());
    expect(await why(right, `tcp://127.0.0.1:${await portOf(plain)}`)).toMatch(/it does not speak TLS.*leave out/);
    plain.close();
  });
});

describe("what is no engine for sandboxes", () => {
  it("is named: too old, of Windows, or something else", async () => {
    const answers = {
      "Docker 19.03.5 is too old (API 1.40": { server: "Docker/19.03.5 (linux)", "api-version": "1.40" },
      "runs Windows containers": { server: "Docker/28.1.0 (windows)", "api-version": "1.49", ostype: "windows" },
      "no container engine": { server: "nginx" },
    };
    for (const [words, headers] of Object.entries(answers)) {
      const server = createServer((_, answer) => answer.writeHead(200, headers).end("OK"));
      const { ok, facts } = await docker({ host: `tcp://127.0.0.1:${await portOf(server)}` }).check();
      expect({ ok, facts: Object.values(facts ?? {}) }).toEqual({ ok: false, facts: [expect.stringContaining(words)] });
      server.close();
    }
  });
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen");
  return address.port;
}
