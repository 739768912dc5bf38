import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { joinModules } from "./join-modules.js";

/** What runs a guest agent in its box. */
export type AgentRuntime = "python" | "node";

const guest = new URL("./guest/", import.meta.url);
/** Parts refer to each other as modules of one package; in the box they share one. */
const importOfPart = /^from \.\w+ import (\([^)]*\)|.*)\n/gm;
let python: Promise<Buffer> | undefined;
let node: Promise<string> | undefined;
const loaded = new Map<string, Promise<string>>();

function file(name: string): Promise<string> {
  const text = loaded.get(name) ?? readFile(new URL(name, guest), "utf8");
  loaded.set(name, text);
  return text;
}

/** The parts of the agent in order, name and source, deflated. */
async function pythonParts(): Promise<Buffer> {
  const names: string[] = JSON.parse(await file("python/parts.json"));
  const parts = await Promise.all(
    names.map(async (name) => [name, (await file(`python/${name}.py`)).replace(importOfPart, "")]),
  );
  return deflateSync(parts.flat().join("\0"), { level: 9 });
}

async function boot(...args: readonly string[]): Promise<readonly string[]> {
  return ["python3", "-I", "-S", "-u", "-c", await file("python/boot.py"), ...args];
}

/**
 * The command that starts a guest agent in a box: its channel is stdin and stdout, unless `args` say otherwise
 * (`python`: `["detached"]`, with the id of a user who may be a client beside root, and the name of its socket).
 */
export async function agentCommand(runtime: AgentRuntime, args: readonly string[] = []): Promise<readonly string[]> {
  if (runtime === "python") {
    python ??= pythonParts();
    return boot("source", (await python).toString("base64"), ...args);
  }
  node ??= joinModules(new URL("agent.mjs", guest));
  return ["node", "--input-type=module", "-e", await node, "--", ...args];
}

/** An agent whose channel is exact, so that most of it can come over that instead of by a long command line. */
export interface AttachedAgent {
  readonly command: readonly string[];
  /** To be written to the channel before anything else. */
  readonly head: Uint8Array;
}

/**
 * The agent in Python for a `binary` channel to its stdin and stdout.
 * @param code What `AgentSession.code` gave in a box with the very same interpreter, which saves compiling it again.
 */
export async function attachedAgent(code?: Uint8Array): Promise<AttachedAgent> {
  python ??= pythonParts();
  const head = code ?? (await python);
  return { command: await boot(code ? "compiled" : "source", `-${head.length}`), head };
}

/** The command that leads from its stdin and stdout to the detached agent of the same box; to be run there by root. */
export async function bridgeCommand(args: readonly string[] = []): Promise<readonly string[]> {
  return ["python3", "-I", "-S", "-u", "-c", await file("bridge.py"), ...args];
}
