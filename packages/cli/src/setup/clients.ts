import { posix, win32 } from "node:path";
import type { ConfigFormat } from "./config-format.js";
import { jsonFormat } from "./json-format.js";
import type { ServerEntry } from "./server-entry.js";
import { tomlFormat } from "./toml-format.js";

/** The machine of whoever is set up: where clients keep their files depends on it. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}

/** One client and its configuration of servers for this user. */
export interface ClientSpec {
  readonly title: string;
  /** The file that names its servers. */
  readonly path: (machine: Machine) => string;
  /** A folder that is there where the client is, or has been. */
  readonly traces: (machine: Machine) => string;
  readonly format: ConfigFormat;
  /** The entry in the client's own shape. */
  readonly shape: (entry: ServerEntry) => Readonly<Record<string, unknown>>;
  /** Whether it reads plain JSON: a comment makes it read nothing. */
  readonly plainJson?: boolean;
  /** What a person does next, in the words of the client. */
  readonly next: string;
}

export const clientNames = ["claude", "claude-code", "cursor", "vscode", "windsurf", "codex"] as const;
export type ClientName = (typeof clientNames)[number];

export const clients: Readonly<Record<ClientName, ClientSpec>> = {
  claude: {
    title: "Claude Desktop",
    path: (machine) => joined(machine, applicationData(machine), "Claude", "claude_desktop_config.json"),
    traces: (machine) => joined(machine, applicationData(machine), "Claude"),
    format: jsonFormat("mcpServers"),
    shape: plain,
    plainJson: true,
    next: "quit Claude Desktop, also in the menu bar or tray, and start it again; Settings > Developer lists the server",
  },
  "claude-code": {
    title: "Claude Code",
    path: (machine) => joined(machine, machine.env.CLAUDE_CONFIG_DIR || machine.home, ".claude.json"),
    traces: (machine) => machine.env.CLAUDE_CONFIG_DIR || joined(machine, machine.home, ".claude"),
    format: jsonFormat("mcpServers"),
    shape: typed,
    plainJson: true,
    next: "start claude anew; claude mcp list, or /mcp in a session, shows the server",
  },
  cursor: {
    title: "Cursor",
    path: (machine) => joined(machine, machine.home, ".cursor", "mcp.json"),
    traces: (machine) => joined(machine, machine.home, ".cursor"),
    format: jsonFormat("mcpServers"),
    shape: plain,
    next: "look at the MCP page of Cursor's settings: the server is listed with its tools, and may have to be switched on",
  },
  vscode: {
    title: "VS Code",
    path: (machine) => joined(machine, applicationData(machine), "Code", "User", "mcp.json"),
    traces: (machine) => joined(machine, applicationData(machine), "Code"),
    format: jsonFormat("servers"),
    shape: typed,
    next: 'run "MCP: List Servers" from the command palette, start the server, and use it in agent mode',
  },
  windsurf: {
    title: "Windsurf",
    path: (machine) => joined(machine, machine.home, ".codeium", "windsurf", "mcp_config.json"),
    traces: (machine) => joined(machine, machine.home, ".codeium", "windsurf"),
    format: jsonFormat("mcpServers"),
    shape: plain,
    next: "open the MCP servers of Cascade and refresh: the server is listed with its tools",
  },
  codex: {
    title: "Codex",
    path: (machine) => joined(machine, codexHome(machine), "config.toml"),
    traces: codexHome,
    format: tomlFormat("mcp_servers"),
    shape: (entry) => ({ ...plain(entry), ...(startsSlowly(entry) ? { startup_timeout_sec: 60 } : {}) }),
    next: "start codex anew; codex mcp list, or /mcp in a session, shows the server",
  },
};

function plain({ command, args, env }: ServerEntry): Readonly<Record<string, unknown>> {
  return { command, args: [...args], ...(Object.keys(env).length > 0 ? { env } : {}) };
}

function typed(entry: ServerEntry): Readonly<Record<string, unknown>> {
  return { type: "stdio", ...plain(entry) };
}

/** Codex waits 10 s for a server; the first time npx fetches what it starts. */
function startsSlowly({ command, args }: ServerEntry): boolean {
  return command === "npx" || args.includes("npx");
}

function codexHome(machine: Machine): string {
  return machine.env.CODEX_HOME || joined(machine, machine.home, ".codex");
}

/** Where programs with windows keep what they know of a user. */
function applicationData(machine: Machine): string {
  const { platform, env, home } = machine;
  if (platform === "win32") return env.APPDATA || joined(machine, home, "AppData", "Roaming");
  if (platform === "darwin") return joined(machine, home, "Library", "Application Support");
  return env.XDG_CONFIG_HOME || joined(machine, home, ".config");
}

function joined({ platform }: Machine, ...parts: string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}
