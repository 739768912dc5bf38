import { randomUUID } from "node:crypto";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

interface Sample {
  readonly module: "api-client" | "toolbox-api-client";
  /** A type that the SDK's own client of that module declares for the answer. */
  readonly type: string;
  readonly value: unknown;
}

const samples: Sample[] = [];
let cloud: Cloud;

/** Asks the emulator as a client of the raw protocol does, and keeps the answer under the type it has to have. */
async function ask(module: Sample["module"], type: string, base: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${cloud.emulator.apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  samples.push({ module, type, value: await response.json() });
}

/** What the compiler has against the answers as values of the SDK's types: also a member that they do not have. */
function compile(checked: readonly Sample[]): string[] {
  const lines = checked.map(({ module, type, value }, index) => {
    const names = [...new Set(type.match(/[A-Z]\w+/g))].filter((name) => name !== "Array").join(", ");
    const text = JSON.stringify(value);
    return `{ let _${index}: Wire<import("@daytona/${module}").${names}>${type.startsWith("Array") ? "[]" : ""} = ${text}; }`;
  });
  // The clients declare times as dates, and leave them the text that they are on the wire.
  const wire = `type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;`;
  const file = join(import.meta.dirname, "answers.ts");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  const source = `${wire}\n${lines.join("\n")}\nexport {};\n`;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, source, target) : getSourceFile(name, target);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map((problem) => {
    const line = problem.file?.getLineAndCharacterOfPosition(problem.start ?? 0).line ?? 0;
    return `${checked[line - 1]?.type}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`;
  });
}

beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("every answer", () => {
  it("has the type that the SDK's own clients declare for it", { timeout: 120_000 }, async () => {
    const sandbox = await cloud.daytona.create({ labels: { a: "b" }, envVars: { C: "d" }, ttlMinutes: 60 });
    const { url } = cloud.emulator;
    const control = (type: string, method: string, path: string, body?: unknown) =>
      ask("api-client", type, url, method, path, body);
    const base = `${sandbox.toolboxProxyUrl}/${sandbox.id}`;
    const toolbox = (type: string, method: string, path: string, body?: unknown) =>
      ask("toolbox-api-client", type, base, method, path, body);
    const of = `/sandbox/${sandbox.id}`;

    await control("Sandbox", "GET", of);
    await control("ListSandboxesResponse", "GET", "/sandbox");
    await control("SandboxLabels", "PUT", `${of}/labels`, { labels: { a: "c" } });
    await control("Sandbox", "POST", `${of}/autostop/5`);
    await control("Sandbox", "POST", `${of}/ttl/5`);
    await control("PortPreviewUrl", "GET", `${of}/ports/80/preview-url`);
    await control("SignedPortPreviewUrl", "GET", `${of}/ports/80/signed-preview-url`);
    await control("ToolboxProxyUrl", "GET", `${of}/toolbox-proxy-url`);
    await control("DaytonaConfiguration", "GET", "/config");
    await sandbox.createSnapshot("typed");
    await control("SnapshotDto", "GET", "/snapshots/typed");
    await control("PaginatedSnapshots", "GET", "/snapshots");

    await toolbox("ExecuteResponse", "POST", "/process/execute", { command: "echo" });
    await toolbox("CodeRunResponse", "POST", "/process/code-run", { code: "1", language: "python" });
    await sandbox.process.createSession("s");
    await toolbox("SessionExecuteResponse", "POST", "/process/session/s/exec", { command: "echo" });
    const later = { command: "echo", runAsync: true };
    await toolbox("SessionExecuteResponse", "POST", "/process/session/s/exec", later);
    const [command] = (await sandbox.process.getSession("s")).commands;
    await toolbox("Command", "GET", `/process/session/s/command/${command?.id}`);
    await toolbox("SessionCommandLogsResponse", "GET", `/process/session/s/command/${command?.id}/logs`);
    await toolbox("Session", "GET", "/process/session/s");
    await toolbox("Array<Session>", "GET", "/process/session");
    await toolbox("PtyCreateResponse", "POST", "/process/pty", { id: randomUUID() });
    await toolbox("PtyCreateResponse", "POST", "/process/pty", { id: "p", lazyStart: true });
    await toolbox("PtyListResponse", "GET", "/process/pty");
    await toolbox("PtySessionInfo", "GET", "/process/pty/p");
    await toolbox("PtySessionInfo", "POST", "/process/pty/p/resize", { cols: 10, rows: 10 });
    await toolbox("InterpreterContext", "POST", "/process/interpreter/context", {});
    await toolbox("ListContextsResponse", "GET", "/process/interpreter/context");

    await sandbox.fs.uploadFile(Buffer.from("text"), "dir/file");
    await toolbox("FileInfo", "GET", "/files/info?path=dir/file");
    await toolbox("Array<FileInfo>", "GET", "/files?path=.&depth=2");
    await toolbox("SearchFilesResponse", "GET", "/files/search?path=.&pattern=f*");
    await toolbox("Array<Match>", "GET", "/files/find?path=.&pattern=text");
    const replacement = { files: ["dir/file", "none"], pattern: "t", newValue: "T" };
    await toolbox("Array<ReplaceResult>", "POST", "/files/replace", replacement);

    await sandbox.git.init("repository");
    await sandbox.fs.uploadFile(Buffer.from("x"), "repository/x");
    await toolbox("GitStatus", "GET", "/git/status?path=repository");
    await sandbox.git.add("repository", ["x"]);
    const commit = { path: "repository", message: "m", author: "a", email: "a@b.c" };
    await toolbox("GitCommitResponse", "POST", "/git/commit", commit);
    await toolbox("Array<GitCommitInfo>", "GET", "/git/history?path=repository");
    await toolbox("ListBranchResponse", "GET", "/git/branches?path=repository");
    await toolbox("ListRemotesResponse", "GET", "/git/remotes?path=repository");
    await toolbox("GitConfigResponse", "GET", "/git/config?key=user.name&path=repository&scope=local");

    await toolbox("PortList", "GET", "/port");
    await toolbox("IsPortInUseResponse", "GET", "/port/1/in-use");
    await toolbox("WorkDirResponse", "GET", "/work-dir");
    await toolbox("UserHomeDirResponse", "GET", "/user-home-dir");
    await toolbox("SystemMetrics", "GET", "/system/metrics");
    await toolbox("ErrorResponse", "GET", "/files/info?path=none");
    await toolbox("ErrorResponse", "POST", "/process/execute", {});
    await toolbox("ErrorResponse", "POST", "/process/execute", { command: "sleep 9", timeout: 1 });
    await toolbox("ErrorResponse", "GET", "/process/session/none");

    expect(compile(samples)).toEqual([]);
  });

  it("would be found out if it had another", () => {
    const wrong: Sample[] = [
      { module: "toolbox-api-client", type: "WorkDirResponse", value: { dir: 1 } },
      { module: "toolbox-api-client", type: "WorkDirResponse", value: { dir: "/", more: true } },
      { module: "api-client", type: "SandboxLabels", value: {} },
    ];
    expect(compile(wrong)).toHaveLength(3);
  });
});
