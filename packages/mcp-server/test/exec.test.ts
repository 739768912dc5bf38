import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, connect, recordOf, textOf } from "./support/connect.js";

describe("exec", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect({ maxTimeoutSeconds: 60 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("gives the exit code in words, stdout, and the record in _meta", async () => {
    const result = await server.call("exec", { command: "echo hello" });
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(/^Exited with code 0 after .+\n\nhello$/);
    expect(recordOf(result)).toMatchObject({ exitCode: 0, reason: "exited", truncated: false });
    expect(recordOf(result).sandbox).toBeTypeOf("string");
    expect(result.structuredContent).toBeUndefined();
  });

  it("treats a failing program as an ordinary answer, with both streams apart", async () => {
    const result = await server.call("exec", { command: "echo out; echo err >&2; exit 3" });
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(/^Exited with code 3 .+\n\n\[stdout\]\nout\n\[stderr\]\nerr$/);
    expect(recordOf(result)).toMatchObject({ exitCode: 3, reason: "exited" });
  });

  it("says when there is no output", async () => {
    expect(textOf(await server.call("exec", { command: "true" }))).toContain("(no output)");
  });

  it("treats a timeout as an ordinary answer with the output so far", async () => {
    const result = await server.call("exec", { command: "echo begun; sleep 30", timeout: 0.5 });
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(/^Stopped at the time limit of 0\.5 s.*at most 60.*\n\nbegun$/s);
    expect(recordOf(result)).toMatchObject({ exitCode: null, reason: "timeout" });
  });

  it("names the signal that ended a program", async () => {
    const result = await server.call("exec", { command: "kill -SEGV $$" });
    expect(textOf(result)).toMatch(/^Ended by signal SIGSEGV/);
    expect(recordOf(result)).toMatchObject({ signal: "SIGSEGV", reason: "signaled" });
  });

  it("hands stdin and cwd over as data", async () => {
    await server.call("exec", { command: "mkdir 'a b'" });
    const result = await server.call("exec", { command: "cat; pwd", stdin: "é'\"$HOME\n", cwd: "a b" });
    expect(textOf(result)).toContain("é'\"$HOME\n");
    expect(textOf(result)).toMatch(/\/a b$/);
  });

  it("keeps 100 MB of output within the budget", async () => {
    const result = await server.call("exec", { command: "echo first; yes | head -c 100000000; echo last" });
    const text = textOf(result);
    expect(text.length).toBeLessThan(21_000);
    expect(text).toMatch(/first\n/);
    expect(text).toMatch(/last\n\[stdout, head and tail\] .* \(8\.39 MB of 100 MB\)/);
    expect(text).toMatch(/\[\.\.\. 100\.0 MB of 100\.0 MB left out here|\[\.\.\. 100 MB of 100 MB left out here/);
    expect(recordOf(result)).toMatchObject({ truncated: true, exitCode: 0 });
  });

  it("answers other calls while one runs", async () => {
    const slow = server.call("exec", { command: "sleep 1; echo slow" });
    const order: string[] = [];
    await Promise.all([
      slow.then(() => order.push("slow")),
      server.call("exec", { command: "echo quick" }).then(() => order.push("quick")),
      server.call("list_sandboxes").then(() => order.push("list")),
    ]);
    expect(order.at(-1)).toBe("slow");
  });

  it("ends the whole tree when the client cancels, and goes on", async () => {
    const abort = new AbortController();
    const call = server.call("exec", { command: "echo $$ > pid; (sleep 60 & wait)" }, { signal: abort.signal });
    const rejected = expect(call).rejects.toThrow();
    let pid = "";
    while (pid === "")
      pid = textOf(await server.call("exec", { command: "cat pid 2>/dev/null || true" })).match(/\d+$/)?.[0] ?? "";
    abort.abort("enough");
    await rejected;
    const until = Date.now() + 5_000;
    const lives = async () => recordOf(await server.call("exec", { command: `kill -0 ${pid}` })).exitCode === 0;
    while ((await lives()) && Date.now() < until);
    expect(await lives()).toBe(false);
  });
});
