import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { joinModules } from "./join-modules.js";

/** What runs a guest agent in its box. */
export type AgentRuntime = "python" | "node";

const guest = new URL("./guest/", import.meta.url);
/** Parts refer to each other as modules of one package; in the box they share one. */
const importOfPart = /^from \.\w+ import (\([^)]*\)|.*)\n/gm;
let python: Promise<readonly string[]> | undefined;
let node: Promise<string> | undefined;
const loaded = new Map<string, Promise<string>>();

function file(name: string): Promise<string> {
  const text = loaded.get(name) ?? readFile(new URL(name, guest), "utf8");
  loaded.set(name, text);
  return text;
}

/** The boot program and its arguments: the names of the parts in order, and their sources. */
async function pythonAgent(): Promise<readonly string[]> {
  const names: string[] = JSON.parse(await file("python/parts.json"));
  const [boot = "", ...parts] = await Promise.all(["boot", ...names].map((name) => file(`python/${name}.py`)));
  const sources = parts.map((part) => part.replace(importOfPart, "")).join("\0");
  return [boot, names.join(","), deflateSync(sources, { level: 9 }).toString("base64")];
}

/**
 * The command that starts a guest agent in a box: its channel is stdin and stdout, unless `args` say otherwise
 * (`python`: `["detached"]`, with the id of a user who may be a client beside root, and the name of its socket).
 */
export async function agentCommand(runtime: AgentRuntime, args: readonly string[] = []): Promise<readonly string[]> {
  if (runtime === "python") {
    python ??= pythonAgent();
    return ["python3", "-I", "-S", "-u", "-c", ...(await python), ...args];
  }
  node ??= joinModules(new URL("agent.mjs", guest));
  return ["node", "--input-type=module", "-e", await node, "--", ...args];
}

/** The command that leads from its stdin and stdout to the detached agent of the same box; to be run there by root. */
export async function bridgeCommand(args: readonly string[] = []): Promise<readonly string[]> {
  return ["python3", "-I", "-S", "-u", "-c", await file("bridge.py"), ...args];
}
