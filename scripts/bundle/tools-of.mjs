import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * The tools of a server that is started for this question: that it answers is a first proof of the tree.
 * @param {string} program
 * @returns {Promise<readonly { readonly name: string, readonly description?: string }[]>}
 */
export async function toolsOf(program) {
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: "/nonexistent" };
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], env });
  const clientInfo = { name: "bundle", version: "0" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  for (const message of [
    { id: 1, method: "initialize", params: hello },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list", params: {} },
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line);
      if (id === 2) return result.tools;
    }
    throw new Error(`${program} ended before it listed its tools`);
  } finally {
    child.stdin.end();
  }
}
