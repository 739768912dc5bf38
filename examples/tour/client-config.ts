import { homedir } from "node:os";
import { join } from "node:path";

/** What to paste into Claude Desktop's configuration so that it starts this server, and where that file is. */
export function claudeDesktopConfig(server: { readonly command: string; readonly args: readonly string[] }) {
  const folders: Readonly<Record<string, string>> = {
    darwin: join(homedir(), "Library", "Application Support"),
    win32: process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"),
  };
  const folder = folders[process.platform] ?? join(homedir(), ".config");
  return {
    file: join(folder, "Claude", "claude_desktop_config.json"),
    text: JSON.stringify({ mcpServers: { sandkit: server } }, null, 2),
  };
}
