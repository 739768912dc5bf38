import { program } from "../program.js";

/** How a client starts the server: what every client's configuration says, each in its own shape. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `path`: this installation by its place on this machine. `npx`: what npm has under the name. */
export const starts = ["path", "npx"] as const;
export type Start = (typeof starts)[number];

export interface EntryOptions {
  readonly start: Start;
  readonly provider?: string | undefined;
  /** Absolute path of a config file. */
  readonly config?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** What npx keeps for later may be gone tomorrow: who was started by it is started by it again. */
export function usualStart(): Start {
  return program.replaceAll("\\", "/").includes("/_npx/") ? "npx" : "path";
}

export function serverEntry({ start, provider, config, env, platform }: EntryOptions): ServerEntry {
  const args = [
    "mcp",
    ...(provider === undefined ? [] : ["--provider", provider]),
    ...(config === undefined ? [] : ["--config", config]),
  ];
  if (start === "path") return { command: process.execPath, args: [program, ...args], env };
  const npx = ["npx", "-y", ...packagesFor(provider), ...args];
  // On Windows npx is no program but a script of the shell, which clients do not start.
  const [command = "npx", ...rest] = platform === "win32" ? ["cmd", "/c", ...npx] : npx;
  return { command, args: rest, env };
}

/** The provider of WebAssembly comes with sandkit; every other one is a package beside it. */
function packagesFor(provider: string | undefined): string[] {
  if (provider === undefined || provider === "wasm") return ["sandkit"];
  const known = ["docker", "e2b", "daytona"].includes(provider);
  return ["--package=sandkit", `--package=${known ? `@sandkit/provider-${provider}` : provider}`, "--", "sandkit"];
}
