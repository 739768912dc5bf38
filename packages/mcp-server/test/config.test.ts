import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configJsonSchema } from "../src/config.js";
import { ConfigError, loadConfig } from "../src/load-config.js";
import { connect, textOf } from "./support/connect.js";
import { localConfig } from "./support/local-config.js";
import { RawServer } from "./support/spawn-server.js";

/** Nothing answers there. */
const noEngine = { DOCKER_HOST: "tcp://127.0.0.1:9" };

describe("loadConfig", () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "sandkit-config-"));
    await mkdir(join(home, "sandkit"));
  });
  afterEach(() => rm(home, { recursive: true }));
  const env = (more: Record<string, string> = {}) => ({ XDG_CONFIG_HOME: home, ...more });
  const write = async (text: string, path = join(home, "sandkit", "config.json")) => {
    await writeFile(path, text);
    return path;
  };

  it("needs no file: wasm, 30 s", async () => {
    const { config, path } = await loadConfig({ env: env() });
    expect(config).toMatchObject({ provider: "wasm", timeoutSeconds: 30, outputChars: 20_000 });
    expect(path).toBeUndefined();
  });

  it("says what a key that has several forms may be", async () => {
    await write(JSON.stringify({ approval: "some", defaults: { network: "all" } }));
    const refused = loadConfig({ env: env() });
    await expect(refused).rejects.toThrow(/approval: must be "never", "always"/);
    await expect(refused).rejects.toThrow(/defaults.network: must be "none"/);
  });

  it("takes SANDKIT_PROVIDER without a file", async () => {
    expect((await loadConfig({ env: env({ SANDKIT_PROVIDER: "docker" }) })).config.provider).toBe("docker");
  });

  it("prefers --config, then SANDKIT_CONFIG, then the user's folder", async () => {
    const own = await write('{"provider": "e2b"}');
    const other = await write('{"provider": "daytona"}', join(home, "other.json"));
    const third = await write('{"provider": "docker"}', join(home, "third.json"));
    expect(await loadConfig({ env: env() })).toMatchObject({ path: own, config: { provider: "e2b" } });
    expect((await loadConfig({ env: env({ SANDKIT_CONFIG: other }) })).config.provider).toBe("daytona");
    const named = await loadConfig({ configPath: third, env: env({ SANDKIT_CONFIG: other }) });
    expect(named.config.provider).toBe("docker");
  });

  it("never reads the working directory", async () => {
    await write('{"provider": "evil"}', join(home, "config.json"));
    await write('{"provider": "evil"}', join(home, "sandkit.json"));
    const before = process.cwd();
    process.chdir(home);
    try {
      const { config } = await loadConfig({ env: { XDG_CONFIG_HOME: join(home, "nothing") } });
      expect(config.provider).toBe("wasm");
    } finally {
      process.chdir(before);
    }
  });

  it.each([
    ["bad JSON", "{", /config .*config\.json: not JSON/],
    ["an unknown key", '{"providr": "wasm"}', /config .*: unknown key "providr"; remove it \(known keys: provider, /],
    ["an unknown inner key", '{"defaults": {"gpu": 1}}', /unknown key "defaults\.gpu"/],
    ["a wrong type", '{"maxSandboxes": "many"}', /config .*: maxSandboxes: .*expected number/],
    ["a list", "[]", /the whole file: .*expected object/],
    ["a default above the maximum", '{"timeoutSeconds": 900}', /timeoutSeconds: 900 is above maxTimeoutSeconds/],
  ])("refuses %s, naming file, key and fix", async (_, text, message) => {
    await write(text);
    await expect(loadConfig({ env: env() })).rejects.toThrow(message);
    await expect(loadConfig({ env: env() })).rejects.toBeInstanceOf(ConfigError);
  });

  it("refuses a named file that is missing, or a directory", async () => {
    await expect(loadConfig({ configPath: join(home, "no"), env: env() })).rejects.toThrow(/no: no such file/);
    await expect(loadConfig({ configPath: home, env: env() })).rejects.toThrow(/cannot be read \(EISDIR\)/);
  });

  it("does not hand the options of one provider to another", async () => {
    await write('{"provider": "docker", "options": {"host": "x"}}');
    const { config } = await loadConfig({ env: env(), provider: "wasm" });
    expect(config).toMatchObject({ provider: "wasm", options: {} });
  });
});

describe("the provider of a config", () => {
  it("is told to be missing, with the command that installs it, and the tools are listed all the same", async () => {
    await using server = await connect({ provider: "@sandkit/provider-nowhere" });
    expect((await server.client.listTools()).tools).toHaveLength(8);
    const result = await server.call("exec", { command: "ls" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^UNAVAILABLE: .*"npm install @sandkit\/provider-nowhere" \(or/);
  });

  it("is refused when it is no provider, or its name is a path", async () => {
    await using wrong = await connect({ provider: "zod" });
    expect(textOf(await wrong.call("exec", { command: "ls" }))).toMatch(
      /^INVALID: package "zod" is no Sandkit provider/,
    );
    await using path = await connect({ provider: "./evil.js" });
    expect(textOf(await path.call("exec", { command: "ls" }))).toMatch(/^INVALID: provider "\.\/evil\.js" is neither/);
  });

  it("parses its own options", async () => {
    await using server = await connect(await localConfig({ options: { pyton: "python3" } }));
    expect(textOf(await server.call("exec", { command: "ls" }))).toMatch(/^INVALID: config for provider .*"pyton"/);
  });

  const backends = { near: { provider: "wasm", options: { maxSandbox: 1 } } };
  it.each([
    ["docker", { pul: "never" }, 'config for provider "docker": options: '],
    ["docker", { memory: 1, host: 5 }, 'config for provider "docker": options'],
    ["wasm", { maxSandboxes: "many" }, 'config for provider "wasm": options.maxSandboxes: '],
    ["balance", { backends }, 'config for provider "wasm": options.backends.near.options: '],
  ])("%s, with options %j that it does not take, is refused at the start", async (provider, options, message) => {
    await using folder = await localConfig({ provider, options });
    for (const transport of [[], ["http", "--port", "0"]]) {
      await using server = new RawServer([...transport, "--config", folder.path], noEngine);
      expect(await server.exited).toEqual([2, null]);
      expect(server.stderr).toContain(`sandkit-mcp: ${message}`);
      expect(server.stdout).toBe("");
    }
  });

  it("with options that it takes needs no backend at the start", async () => {
    await using folder = await localConfig({ provider: "docker", options: { pull: "never" } });
    await using server = new RawServer(["--config", folder.path], noEngine);
    await server.initialize();
    expect(server.stderr).toBe("");
  });
});

describe("the published schema", () => {
  it("is what the package ships and knows every key", async () => {
    const shipped = JSON.parse(await readFile(new URL("../dist/config.schema.json", import.meta.url), "utf8"));
    expect(shipped).toEqual(configJsonSchema());
    expect(Object.keys(shipped.properties)).toContain("maxTimeoutSeconds");
    expect(shipped.additionalProperties).toBe(false);
    expect(shipped.required).toBeUndefined();
  });
});
