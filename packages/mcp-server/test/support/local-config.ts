import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LoadedConfig, loadConfig } from "../../src/load-config.js";

/** A folder with a config file, removed when disposed. */
export interface ConfigFolder extends AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  load(): Promise<LoadedConfig>;
}

/** A config that runs plain processes of this machine, with the provider package installed beside it. */
export async function localConfig(settings: Record<string, unknown> = {}): Promise<ConfigFolder> {
  const folder = await mkdtemp(join(tmpdir(), "sandkit-mcp-"));
  const path = join(folder, "config.json");
  await mkdir(join(folder, "node_modules"));
  const fixture = fileURLToPath(new URL("../fixtures/local-provider", import.meta.url));
  await symlink(fixture, join(folder, "node_modules", "local-provider"), "junction");
  await writeFile(path, JSON.stringify({ provider: "local-provider", ...settings }));
  return {
    folder,
    path,
    load: () => loadConfig({ configPath: path, env: {} }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
