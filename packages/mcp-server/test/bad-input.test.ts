import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, connect, textOf } from "./support/connect.js";

describe("bad input", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const cases: [title: string, tool: string, input: Record<string, unknown>, text: RegExp][] = [
    ["empty code", "run_code", { code: "  ", language: "shell" }, /^INVALID: .*code is empty: pass/],
    ["missing code", "run_code", {}, /^INVALID: run_code: code: .*Its parameters: code, language/],
    ["unknown language", "run_code", { code: "1", language: "cobol" }, /^INVALID: run_code: language: .*"shell"/],
    ["wrong type", "exec", { command: 5 }, /^INVALID: exec: command: .*expected string/],
    ["unknown parameter", "exec", { command: "ls", shell: "zsh" }, /^INVALID: exec: .*"shell"/],
    ["empty command", "exec", { command: "" }, /^INVALID: .*command is empty/],
    ["negative timeout", "exec", { command: "ls", timeout: -1 }, /^INVALID: .*timeout: must be above 0/],
    ["timeout above the maximum", "exec", { command: "ls", timeout: 1e6 }, /^INVALID: .*timeout: must be at most 600/],
    ["NUL in a command", "exec", { command: "echo \0" }, /^INVALID: .*NUL/],
    ["NUL in a path", "read_file", { path: "a\0b" }, /^INVALID: .*NUL/],
    ["NUL in a path to write", "write_file", { path: "a\0b", content: "" }, /^INVALID: .*NUL/],
    ["empty path", "read_file", { path: "" }, /^INVALID: .*path: must not be empty/],
    ["missing file", "read_file", { path: "none" }, /^FILE_NOT_FOUND: .*none/],
    ["missing file to edit", "write_file", { path: "none", old_text: "a", content: "b" }, /^FILE_NOT_FOUND: /],
    ["directory written as a file", "write_file", { path: ".", content: "x" }, /^IS_DIRECTORY: /],
    ["missing cwd", "exec", { command: "ls", cwd: "none" }, /^FILE_NOT_FOUND: /],
    [
      "sandbox that never was",
      "exec",
      { command: "ls", sandbox_id: "box" },
      /^NOT_FOUND: there is no sandbox "box": copy/,
    ],
    ["sandbox that never was, destroyed", "destroy_sandbox", { sandbox_id: "box" }, /^NOT_FOUND: /],
    ["unknown template", "create_sandbox", { template: "cobol" }, /^INVALID: .*cobol/],
    [
      "10 MB of code",
      "run_code",
      { code: "#".repeat(1e7), language: "shell" },
      /^TOO_LARGE: code is 10\.0 MB, above the limit of 4\.19 MB/,
    ],
    ["10 MB of content", "write_file", { path: "x", content: "x".repeat(1e7) }, /^TOO_LARGE: content/],
  ];
  it.each(cases)(
    "%s is refused with its code and the next step, and the server goes on",
    async (_, tool, input, text) => {
      const result = await server.call(tool, input);
      expect(textOf(result)).toMatch(text);
      expect(result.isError).toBe(true);
      expect(result._meta?.["sandkit/error"]).toMatchObject({ code: textOf(result).split(":")[0] });
      expect(textOf(await server.call("exec", { command: "echo on" }))).toContain("\non");
    },
  );

  it.each([
    ["cwd", "exec", { command: "ls", cwd: "x".repeat(3e6) }],
    ["path", "read_file", { path: "x".repeat(3e6) }],
    ["template", "create_sandbox", { template: "x".repeat(3e6) }],
    ["sandbox_id", "destroy_sandbox", { sandbox_id: "x".repeat(3e6) }],
  ])("does not send a %s of megabytes back", async (_, tool, input) => {
    const result = await server.call(tool, input);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result).length).toBeLessThan(10_000);
  });

  it("refuses a tool that does not exist as a protocol error that names those that do", async () => {
    await expect(server.call("run", {})).rejects.toThrow(/there is no tool "run": the tools are run_code, exec/);
  });
});
