import { readFile } from "node:fs/promises";
import { joinModules } from "./join-modules.js";

/** What a guest agent can be run by. */
export type AgentRuntime = "python" | "node";

const guest = new URL("./guest/", import.meta.url);
/** Parts refer to each other as modules of one package; joined, they share one. */
const importOfPart = /^from \.\w+ import (\([^)]*\)|.*)\n/gm;
const loaded = new Map<string, Promise<string>>();

function once(name: string, load: () => Promise<string>): Promise<string> {
  const source = loaded.get(name) ?? load();
  loaded.set(name, source);
  return source;
}

async function joinPython(): Promise<string> {
  const parts: string[] = JSON.parse(await readFile(new URL("python/parts.json", guest), "utf8"));
  const texts = await Promise.all(parts.map((part) => readFile(new URL(`python/${part}.py`, guest), "utf8")));
  return texts.map((text) => text.replace(importOfPart, "")).join("\n");
}

const file = (name: string) => readFile(new URL(name, guest), "utf8");

/**
 * The command that starts a guest agent in a box: its channel is stdin and stdout, unless `args` say otherwise
 * (`python`: `["detached"]`, with the id of a user who may be a client beside root).
 */
export async function agentCommand(runtime: AgentRuntime, args: readonly string[] = []): Promise<readonly string[]> {
  if (runtime === "python") return ["python3", "-I", "-S", "-u", "-c", await once("agent.py", joinPython), ...args];
  const source = await once("agent.mjs", () => joinModules(new URL("agent.mjs", guest)));
  return ["node", "--input-type=module", "-e", source, "--", ...args];
}

/** The command that leads from its stdin and stdout to the detached agent of the same box; to be run there by root. */
export async function bridgeCommand(): Promise<readonly string[]> {
  return ["python3", "-I", "-S", "-u", "-c", await once("bridge.py", () => file("bridge.py"))];
}
