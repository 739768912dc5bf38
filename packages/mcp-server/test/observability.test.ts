import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { context, propagation, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { Metrics } from "../src/observability/metrics.js";
import { callTool, connect, recordOf } from "./support/connect.js";
import { type ConfigFolder, localConfig } from "./support/local-config.js";
import { send } from "./support/send.js";
import { RawServer } from "./support/spawn-server.js";

let folder: ConfigFolder;
beforeAll(async () => {
  folder = await localConfig();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function start(host: string): Promise<HttpServer> {
  const { config, path: configPath } = await folder.load();
  return await serveHttp({ config, configPath, host, token: "alice:secret" });
}

const metricsOf = (url: string, headers = {}) => send(url, headers, { path: "/metrics", method: "GET" });

describe("/metrics", () => {
  it("counts calls, runs, sandboxes, errors and bytes, and is open to this machine alone", async () => {
    const server = await start("127.0.0.1");
    const client = new Client({ name: "metrics", version: "1" });
    const requestInit = { headers: { Authorization: "Bearer secret" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    try {
      const { sandbox } = recordOf(await callTool(client, "exec", { command: "printf 12345; printf 123 >&2; exit 3" }));
      await callTool(client, "exec", { command: "sleep 9", timeout: 0.2, sandbox_id: sandbox });
      await callTool(client, "exec", { command: "" });
      await expect(callTool(client, "made_up_by_a_model")).rejects.toThrow();
      const { status, headers, body } = await metricsOf(server.url);
      expect(status).toBe(200);
      expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
      for (const line of [
        'sandkit_calls_total{tool="exec",outcome="ok"} 2',
        'sandkit_calls_total{tool="exec",outcome="error"} 1',
        'sandkit_call_duration_seconds_count{tool="exec"} 3',
        'sandkit_call_duration_seconds_bucket{tool="exec",le="+Inf"} 3',
        'sandkit_errors_total{code="INVALID"} 1',
        'sandkit_runs_total{reason="exited"} 1',
        'sandkit_runs_total{reason="timeout"} 1',
        "sandkit_run_duration_seconds_count 2",
        'sandkit_output_bytes_total{stream="stdout"} 5',
        'sandkit_output_bytes_total{stream="stderr"} 3',
        'sandkit_sandboxes_created_total{outcome="made"} 1',
        "sandkit_sandboxes 1",
        "sandkit_runs 0",
      ]) {
        expect(body.split("\n")).toContain(line);
      }
      expect(body).toMatch(/^sandkit_http_requests_total\{status="200"\} [1-9]/m);
      for (const name of [
        "sandkit_http_sent_bytes_total",
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
      ]) {
        expect(Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1])).toBeGreaterThan(0);
      }
      expect(body).not.toMatch(/alice|secret|made_up/);
      expect(body).not.toContain(String(sandbox));
    } finally {
      await client.close();
      await server.close();
    }
  });

  it("asks for a token where others can connect", async () => {
    const server = await start("0.0.0.0");
    try {
      expect((await metricsOf(server.url)).status).toBe(401);
      expect((await metricsOf(server.url, { Authorization: "Bearer secret" })).status).toBe(200);
      expect((await metricsOf(server.url, { Host: "evil.example" })).status).toBe(403);
    } finally {
      await server.close();
    }
  });

  it("escapes what labels hold, and adds up buckets", () => {
    const metrics = new Metrics();
    metrics.counter("a_total", "A.", "b").add(2, 'x"y\\z\n');
    const times = metrics.histogram("t_seconds", "T.", [0.1, 1]);
    for (const seconds of [0.1, 0.5, 7]) times.observe(seconds);
    expect(metrics.render()).toBe(
      [
        "# HELP a_total A.",
        "# TYPE a_total counter",
        'a_total{b="x\\"y\\\\z\\n"} 2',
        "# HELP t_seconds T.",
        "# TYPE t_seconds histogram",
        't_seconds_bucket{le="0.1"} 1',
        't_seconds_bucket{le="1"} 2',
        't_seconds_bucket{le="+Inf"} 3',
        "t_seconds_sum 7.6",
        "t_seconds_count 3",
        "",
      ].join("\n"),
    );
  });
});

describe("spans", () => {
  it("join the caller's trace, with the run and its sandbox below the call", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.register();
    await using server = await connect();
    try {
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const params = { name: "exec", arguments: { command: "exit 3" }, _meta: { traceparent } };
      await server.client.callTool(params);
      await server.call("exec", { command: "" });
      const [made, run, call, failed] = exporter.getFinishedSpans();
      expect(call).toMatchObject({
        name: "tools/call exec",
        kind: 1,
        parentSpanContext: { spanId: "b7ad6b7169203331" },
        attributes: {
          "gen_ai.tool.name": "exec",
          "mcp.method.name": "tools/call",
          "network.transport": "pipe",
          "sandkit.run.reason": "exited",
          "process.exit.code": 3,
        },
        status: { code: 0 },
      });
      expect(run).toMatchObject({ name: "run", parentSpanContext: { spanId: call?.spanContext().spanId } });
      expect(made).toMatchObject({ name: "sandbox create", parentSpanContext: { spanId: run?.spanContext().spanId } });
      for (const span of [made, run, call])
        expect(span?.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
      expect(failed).toMatchObject({ attributes: { "error.type": "INVALID" }, status: { code: 2 } });
    } finally {
      await provider.shutdown();
      for (const api of [trace, context, propagation]) api.disable();
    }
  });
});

describe("the log", () => {
  const linesOf = ({ stderr }: RawServer) =>
    stderr
      .trimEnd()
      .split("\n")
      .map((line): Record<string, unknown> => JSON.parse(line));

  it("is JSON on stderr, one line for each call, without what only its user should know", async () => {
    await using server = new RawServer(["--config", folder.path], { LOG_LEVEL: "info" });
    await server.initialize();
    await server.call(1, "exec", { command: "echo my-data; exit 3" });
    await server.call(2, "exec", { command: "" });
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
    const [first, second] = linesOf(server).filter(({ message }) => message === "call");
    expect(first).toMatchObject({ level: "info", tool: "exec", outcome: "ok", exitCode: 3, reason: "exited" });
    expect(new Date(String(first?.time)).getTime()).toBeGreaterThan(0);
    expect(first?.sandbox).toMatch(/^[^.]+$/);
    expect(second).toMatchObject({ outcome: "error", code: "INVALID" });
    expect(server.stderr).not.toContain("my-data");
  });

  it("may be read by nobody", async () => {
    await using server = new RawServer(["--config", folder.path], { LOG_LEVEL: "info" });
    await server.initialize();
    server.child.stderr.destroy();
    for (const id of [1, 2]) expect(await server.call(id, "exec", { command: "echo on" })).toContain("on");
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
  });

  it("refuses a level that there is not", async () => {
    await using server = new RawServer([], { LOG_LEVEL: "loud" });
    expect(await server.exited).toEqual([2, null]);
    expect(server.stderr).toContain("LOG_LEVEL=loud: use debug, info, warn, error, silent");
  });
});
