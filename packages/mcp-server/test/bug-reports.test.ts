import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { type Connection, recordOf, textOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";

// What users of other servers reported, and what must not happen here. Further reports are tests beside what they are
// about: runs, results, resources, sandboxes, stdio, HTTP.
describe("reported of other servers", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connectWasm();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const run = (code: string, more: Record<string, unknown> = {}, options = {}) =>
    server.call("run_code", { code, ...more }, options);

  it("clients give up after 60 s, whatever the server does: every call answers before", () => {
    const { waitSeconds, timeoutSeconds, maxTimeoutSeconds } = configSchema.parse({});
    expect(waitSeconds).toBeLessThan(60);
    expect(timeoutSeconds).toBeLessThan(waitSeconds);
    expect(maxTimeoutSeconds).toBeGreaterThanOrEqual(600);
  });

  it("a long call without traffic is dropped: notices come, with the latest line", async () => {
    const seen: { progress: number; message?: string | undefined }[] = [];
    const code = "import time\nprint('epoch 1', flush=True)\ntime.sleep(3.5)\nprint('epoch 2')";
    const result = await run(code, {}, { onprogress: (progress: (typeof seen)[number]) => seen.push(progress) });
    expect(textOf(result)).toContain("epoch 2");
    expect(seen.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^epoch 1 \(\d s\)$/));
    const values = seen.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  });

  it("a time limit that does not stop while(true){}, loses the log and the pictures", async () => {
    const picture = "display({'image/png': 'iVBORw0KGgo='}, raw=True)\nprint('partial', flush=True)\n";
    const python = await run(`${picture}while True: pass`, { timeout: 1 });
    expect(textOf(python)).toMatch(/^Stopped at the time limit of 1 s.*\n\n\[stdout\]\npartial\n\[error\]/s);
    expect(python.content).toContainEqual({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" });
    const script = await run("console.log('partial'); while (true) {}", { language: "javascript", timeout: 1 });
    expect(textOf(script)).toMatch(/^Stopped at the time limit of 1 s.*\n\n\[stdout\]\npartial/s);
    const shell = await run("echo partial; while true; do true; done", { language: "shell", timeout: 1 });
    expect(textOf(shell)).toMatch(/^Stopped at the time limit of 1 s.*\n\npartial/s);
  });

  it("a server that is held up by a run answers nothing else, and is given up", async () => {
    const abort = new AbortController();
    const runaway = run("while True: print('x' * 1000)", { timeout: 30 }, { signal: abort.signal });
    const cancelled = expect(runaway).rejects.toThrow();
    for (let n = 0; n < 5; n++) expect((await server.client.listTools()).tools).toHaveLength(8);
    expect(textOf(await server.call("process", { action: "list" }))).toContain("while True");
    abort.abort();
    await cancelled;
    expect(textOf(await run("'on'"))).toContain("'on'");
  });

  it("an interpreter that died takes all later calls with it", async () => {
    await run("kept = 1");
    const died = await run("import os; os._exit(7)");
    expect(died.isError).toBeFalsy();
    expect(textOf(died)).toMatch(/Variables of earlier cells are lost; files are kept/);
    expect(textOf(await run("'again'"))).toContain("'again'");
  });

  it("parallel calls mix their output", async () => {
    const { sandbox_id: other } = (await server.call("create_sandbox")).structuredContent as { sandbox_id: string };
    const ids = Array.from({ length: 8 }, (_, n) => n);
    const results = await Promise.all(
      ids.map((n) => run(`for _ in range(50): print(${n})`, n % 2 === 0 ? {} : { sandbox_id: other })),
    );
    for (const [n, result] of results.entries()) {
      expect(textOf(result).split("\n\n")[1]).toBe(Array.from({ length: 50 }, () => n).join("\n"));
    }
    await server.call("destroy_sandbox", { sandbox_id: other });
  });

  it("models make ids up, and ids become commands", async () => {
    const made = await server.call("create_sandbox", { sandbox_id: "mine" });
    expect(textOf(made)).toMatch(/^INVALID: create_sandbox: .*"sandbox_id".*Its parameters: template, packages/);
    for (const id of ["sandbox-1", "x; touch /tmp/pwned", "$(id)", "../..", "a\0b"]) {
      for (const [tool, input] of [
        ["exec", { command: "true" }],
        ["destroy_sandbox", {}],
      ] as const) {
        const result = await server.call(tool, { ...input, sandbox_id: id });
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(/^NOT_FOUND: there is no sandbox .*copy the sandbox_id from a result/);
      }
    }
  });

  it("file tools reach files of the host", async () => {
    for (const path of ["/proc/self/environ", "../../../../../../etc/hostname", "/etc/machine-id", "C:\\Windows"]) {
      const result = await server.call("read_file", { path });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^FILE_NOT_FOUND: .*\n.*read_file/);
    }
  });

  it("text that is no ASCII is broken somewhere on the way", async () => {
    const text = "grüße 你好 🙂 \u2028 é";
    expect(textOf(await run(`print(${JSON.stringify(text)})`))).toContain(text);
    expect(textOf(await run(`console.log(${JSON.stringify(text)})`, { language: "javascript" }))).toContain(text);
    expect(textOf(await run(`printf '%s' '${text}'`, { language: "shell" }))).toContain(text);
    await server.call("write_file", { path: `${text}.txt`, content: text });
    expect(textOf(await server.call("read_file", { path: `${text}.txt` }))).toContain(`\n${text}`);
    const echoed = await server.call("exec", { command: "cat", stdin: text });
    expect(textOf(echoed)).toContain(text);
    const listed = await run("import os, sys; [os.listdir('.').count(sys.argv[0] or ''), sys.stdout.encoding]");
    expect(textOf(listed)).toContain("utf-8");
  });

  it("results fill the context, are shown twice, or lose their pictures to a structured copy", async () => {
    const flood = await run("import random\nfor _ in range(5000): print(random.random(), '你好')");
    expect(encode(textOf(flood)).length).toBeLessThan(25_000);
    const picture = await run("display({'image/png': 'iVBORw0KGgo='}, raw=True)");
    for (const result of [flood, picture]) expect(result.structuredContent).toBeUndefined();
    expect(JSON.stringify(picture).match(/iVBORw0KGgo=/g)).toHaveLength(1);
    expect(textOf(picture)).not.toContain("iVBOR");
    expect(recordOf(picture)).toMatchObject({ exitCode: 0, reason: "exited", bytes: { stdout: 0, stderr: 0 } });
  });
});
