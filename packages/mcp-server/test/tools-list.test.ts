import { capabilities } from "@sandkit/core";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { surfaceOf } from "../src/surface.js";
import { requireCells } from "../src/tools/require-cells.js";
import { connect, textOf } from "./support/connect.js";
import { RawServer } from "./support/spawn-server.js";

it("costs at most 1,200 tokens of a model's context, everything included", async () => {
  // A provider that cannot be loaded is listed with all that any provider might do.
  for (const implicit of ["default", "fresh"] as const) {
    await using server = await connect({ provider: "@sandkit/provider-nowhere" }, implicit);
    const listed = await server.client.listTools();
    expect(listed.tools).toHaveLength(8);
    expect(encode(JSON.stringify(listed)).length).toBeLessThanOrEqual(1_200);
  }
});

it("offers the languages of the provider", async () => {
  await using server = await connect();
  const { tools } = await server.client.listTools();
  const language = tools.find(({ name }) => name === "run_code")?.inputSchema.properties?.language;
  expect(language).toEqual({ type: "string", enum: ["shell"] });
});

it("lets calls name packages unless the config says no", async () => {
  await using server = await connect({ packagesFromCalls: false });
  const { tools } = await server.client.listTools();
  for (const { inputSchema } of tools) expect(inputSchema.properties).not.toHaveProperty("packages");
  const refused = await server.call("create_sandbox", { packages: ["one"] });
  expect(textOf(refused)).toMatch(/^INVALID: create_sandbox: .*"packages".*Its parameters: template\./);
});

it("has the optional tools where the config names them and the provider can do what they need", async () => {
  const config = configSchema.parse({ tools: ["snapshot", "expose_port"], approval: ["snap*"] });
  const cloud = capabilities({ isolation: "microvm", features: { ports: "native" } });
  expect(surfaceOf(config, cloud).optional).toEqual(["expose_port"]);
  expect(() => configSchema.parse({ tools: ["exec"] })).toThrow(/expose_port/);
  await using server = await connect({ provider: "@sandkit/provider-nowhere", tools: ["snapshot"] });
  const { tools } = await server.client.listTools();
  expect(tools.map(({ name }) => name).slice(8)).toEqual(["snapshot"]);
  expect(tools.find(({ name }) => name === "create_sandbox")?.inputSchema.properties).toHaveProperty("snapshot");
});

it("says what a provider with programs but no shell can do", () => {
  const config = configSchema.parse({});
  const wasm = capabilities({ isolation: "wasm", features: { "kernel.python": "native", "exec.argv": "native" } });
  expect(surfaceOf(config, wasm)).toMatchObject({ languages: ["python"], commands: "argv", openWorld: false });
});

it("derives the annotations from what code may really reach", async () => {
  const config = configSchema.parse({});
  const wasm = capabilities({ isolation: "wasm", features: { "kernel.python": "native" } });
  expect(surfaceOf(config, wasm).openWorld).toBe(false);
  expect(surfaceOf(configSchema.parse({ defaults: { network: { allow: ["a.org"] } } }), wasm).openWorld).toBe(true);
  expect(surfaceOf(configSchema.parse({ defaults: { network: { allow: [] } } }), wasm).openWorld).toBe(false);
  expect(surfaceOf(config, { ...wasm, isolation: "none" })).toMatchObject({ openWorld: true, touchesHost: true });
  const packages = capabilities({ isolation: "wasm", features: { packages: "native" } });
  expect(surfaceOf(config, packages)).toMatchObject({ openWorld: false, fetchesPackages: true, touchesHost: false });
  expect(surfaceOf(configSchema.parse({ packagesFromCalls: false }), packages).fetchesPackages).toBe(false);
  await using server = await connect();
  const { tools } = await server.client.listTools();
  const annotations = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
  expect(annotations.exec).toMatchObject({ openWorldHint: true, destructiveHint: true });
  expect(annotations.write_file).toMatchObject({ destructiveHint: true });
  expect(annotations.read_file).toMatchObject({ readOnlyHint: true, openWorldHint: false });
});

it("is the same at every call and declares no output schema where images may come", async () => {
  await using server = await connect();
  const first = await server.client.listTools();
  await server.call("exec", { command: "true" });
  expect(await server.client.listTools()).toEqual(first);
  for (const tool of first.tools) {
    if (["run_code", "exec", "read_file"].includes(tool.name)) expect(tool.outputSchema).toBeUndefined();
  }
});

it("comes after a handshake that loads no provider", async () => {
  await using server = new RawServer([], { SANDKIT_PROVIDER: "@sandkit/provider-nowhere" });
  await server.initialize();
  expect(server.stderr).toBe("");
  await server.ask(1, "tools/list");
  expect(server.stderr).toContain("the provider cannot be loaded");
});

it("says which template runs a language that the sandbox at hand does not", () => {
  const python = capabilities({ isolation: "container", features: { "kernel.python": "native" } });
  expect(() => requireCells("python", python)).not.toThrow();
  expect(() => requireCells("typescript", python)).toThrow(/no typescript code: .*create_sandbox, template "node"/);
});
