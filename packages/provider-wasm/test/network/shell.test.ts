import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../../src/index.js";
import { WebServer } from "./web-server.js";

const server = new WebServer();
let sandbox: Sandbox;
beforeAll(async () => {
  await server.start();
  sandbox = await createSandbox(wasm(), { network: { allow: [server.host] } });
});
afterAll(async () => {
  await sandbox.destroy();
  await server.stop();
});

async function sh(command: string): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const result = await sandbox.exec(command.replaceAll("@URL", server.url), { timeoutMs: 20_000 });
  return { exitCode: result.exitCode, stdout: result.stdout.text, stderr: result.stderr.text };
}

const echoed = async (command: string) => JSON.parse((await sh(command)).stdout);

describe("curl", () => {
  it("gets a page into a pipe, a file, and a file of its name", async () => {
    expect(await sh("curl -s @URL/hello | rev")).toMatchObject({ exitCode: 0, stdout: "olleh" });
    const files = await sh("curl -sSfL -o out.bin @URL/bytes?600000 && wc -c < out.bin; curl -sO @URL/json; cat json");
    expect(files).toMatchObject({ exitCode: 0, stdout: '600000\n{"answer":42}', stderr: "" });
    expect((await sandbox.files.read("out.bin"))[300]).toBe(300 % 251);
  });

  it("keeps every byte", async () => {
    const result = await sandbox.exec(`curl -s ${server.url}/bytes?1000`);
    expect(result.stdout.bytes).toEqual(Uint8Array.from({ length: 1000 }, (_, index) => index % 251));
  });

  it("sends methods, headers, data, JSON, forms, files and users", async () => {
    await sandbox.files.write("up.bin", Uint8Array.from([0, 255, 10, 13, 128]));
    await sandbox.files.write("text.txt", "a\nb\n");
    expect(await echoed("curl -s -d a=1 -d b=é @URL/echo")).toMatchObject({ method: "POST", text: "a=1&b=é" });
    expect(await echoed("curl -s -X PUT -H 'X-Own: yes' -H 'Accept:' --data-binary @up.bin @URL/echo")).toMatchObject({
      method: "PUT",
      size: 5,
      headers: { "x-own": "yes" },
    });
    expect(await echoed("curl -s -d @text.txt @URL/echo")).toMatchObject({ text: "ab" });
    expect(await echoed(`curl -s --json '{"x":1}' @URL/echo`)).toMatchObject({
      text: '{"x":1}',
      headers: { "content-type": "application/json", accept: "application/json" },
    });
    expect(await echoed("curl -s -T up.bin @URL/echo")).toMatchObject({ method: "PUT", size: 5 });
    expect(await echoed("echo -n piped | curl -s -d @- @URL/echo")).toMatchObject({ text: "piped" });
    expect(await echoed("curl -s -u me:pw @URL/echo")).toMatchObject({ headers: { authorization: "Basic bWU6cHc=" } });
    const form = await echoed("curl -s -F name=value -F 'file=@up.bin;type=image/png' @URL/echo");
    expect(form.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(form.text).toContain('name="file"; filename="up.bin"\r\nContent-Type: image/png');
    expect(await echoed("curl -sG -d 'q=1' --data-urlencode 'w=a b' @URL/echo")).toMatchObject({ method: "GET" });
    expect(server.seen.at(-1)?.path).toBe("/echo?q=1&w=a%20b");
  });

  it("shows heads, codes and failures as curl does", async () => {
    expect((await sh("curl -sI @URL/hello")).stdout).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\n/);
    expect((await sh("curl -si @URL/hello")).stdout).toMatch(/\r\n\r\nhello$/);
    expect(await sh("curl -s -o /dev/null -w '%{http_code} %{size_download}\\n' @URL/hello")).toMatchObject({
      stdout: "200 5\n",
    });
    expect(await sh("curl -sSf @URL/nothing")).toEqual({
      exitCode: 22,
      stdout: "",
      stderr: "curl: (22) The requested URL returned error: 404\n",
    });
    expect(await sh("curl -s @URL/nothing")).toMatchObject({ exitCode: 0, stdout: "no such page" });
  });

  it("follows redirects with -L alone, within bounds", async () => {
    expect(await sh("curl -s @URL/redirect?/hello")).toMatchObject({ stdout: "elsewhere" });
    expect(await sh("curl -sL @URL/redirect?/hello")).toMatchObject({ stdout: "hello" });
    expect(await sh("curl -sSL @URL/redirect?http://elsewhere.example/")).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('network: { allow: ["elsewhere.example"] }'),
    });
    server.on("/round", (_request, response) => void response.writeHead(302, { location: "/round" }).end());
    expect((await sh("curl -sL --max-redirs 3 @URL/round")).exitCode).toBe(47);
  });

  it("ends by --max-time, by timeout, and by the deadline of its command", async () => {
    server.on("/never", () => undefined);
    expect((await sh("curl -sS -m 0.3 @URL/never")).exitCode).toBe(28);
    expect((await sh("timeout 0.3 curl -s @URL/never")).exitCode).toBe(124);
    const result = await sandbox.exec(`curl -s ${server.url}/never`, { timeoutMs: 500 });
    expect(result.reason).toBe("timeout");
    await expect.poll(() => server.open).toBe(0);
  });

  it("tries again with --retry", async () => {
    let tries = 0;
    server.on("/flaky", (_request, response) => {
      tries += 1;
      response.writeHead(tries < 2 ? 503 : 200).end(`try ${tries}`);
    });
    expect(await sh("curl -sS --retry 2 @URL/flaky")).toMatchObject({ exitCode: 0, stdout: "try 2" });
  });

  it("refuses what it cannot do by the option's name", async () => {
    expect(await sh("curl -k @URL")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("-k: certificates"),
    });
    expect(await sh("curl --socks5 x @URL")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--socks5"),
    });
    expect(await sh("curl")).toMatchObject({ exitCode: 2 });
    expect(await sh("which curl wget")).toMatchObject({ exitCode: 0, stdout: "/usr/bin/curl\n/usr/bin/wget\n" });
  });
});

describe("wget", () => {
  it("saves pages by their names, and to stdout", async () => {
    expect(await sh("wget -q @URL/json && cat json")).toMatchObject({ exitCode: 0, stdout: '{"answer":42}' });
    expect(await sh("wget -qO- @URL/hello")).toMatchObject({ stdout: "hello" });
    expect(await sh("wget -P sub @URL/redirect?/hello && ls sub")).toMatchObject({ stdout: "redirect\n" });
    expect(await sh("wget -q @URL/nothing")).toMatchObject({ exitCode: 8 });
  });
});

it("without a network both say so", async () => {
  const closed = await createSandbox(wasm(), {});
  try {
    const { exitCode, stderr } = await closed.exec("which curl; curl http://example.com");
    expect([exitCode, stderr.text]).toEqual([
      127,
      'sandkit: curl: not available in WebAssembly: this sandbox has no network: create it with network: { allow: ["example.com"] }\n',
    ]);
  } finally {
    await closed.destroy();
  }
});
