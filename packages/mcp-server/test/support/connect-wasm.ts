import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/load-config.js";
import { type Connection, connect } from "./connect.js";

/** Serves the provider that is there by default: Python in WebAssembly. */
export async function connectWasm(
  settings: Record<string, unknown> = {},
  implicit: "default" | "fresh" = "default",
): Promise<Connection> {
  const folder = await mkdtemp(join(tmpdir(), "sandkit-mcp-wasm-"));
  const path = join(folder, "config.json");
  await writeFile(path, JSON.stringify(settings));
  const config = {
    folder,
    path,
    load: () => loadConfig({ configPath: path, env: {} }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
  return await connect(config, implicit);
}
