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

/** One of several modules that share a scope in the box, without its imports of the others. */
async function part(name: string): Promise<string> {
  return (await file(`${name}.py`)).replace(importOfPart, "");
}

/** The parts of the agent in order, name and source. */
async function pythonSources(): Promise<string> {
  const names: string[] = JSON.parse(await file("python/parts.json"));
  const parts = await Promise.all(names.map(async (name) => [name, await part(`python/${name}`)]));
  return parts.flat().join("\0");
}

async function pythonParts(): Promise<Buffer> {
  return deflateSync(await pythonSources(), { level: 9 });
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
  return ["python3", "-I", "-S", "-u", "-c", (await part("reach")) + (await part("bridge")), ...args];
}

/** A module to preload into Node in a box whose way out is a proxy: older Node does not look for one. */
export function proxyPreload(): Promise<string> {
  return file("through-proxy.cjs");
}

/** What runs on a terminal, instead of the shell that was there. */
export interface LinkProgram {
  /** Source of Python that fits into a line of a terminal, deflated; it takes two arguments: see `loader.py`. */
  readonly loader: Buffer;
  /** What the loader runs, deflated: the guest's end of a link, with the agent for a box that has none running. */
  readonly program: Buffer;
}

let link: Promise<LinkProgram> | undefined;

/** The programs that `startLink` brings into a box. */
export function linkProgram(): Promise<LinkProgram> {
  link ??= makeLinkProgram();
  return link;
}

async function makeLinkProgram(): Promise<LinkProgram> {
  const names: string[] = JSON.parse(await file("link/parts.json"));
  const source = (await Promise.all(names.map(part))).join("");
  const parts = [source, await file("python/boot.py"), await pythonSources()];
  const loader = (await file("link/loader.py")).replace(/^#.*\n/gm, "");
  return { loader: deflateSync(loader, { level: 9 }), program: deflateSync(parts.join("\0"), { level: 9 }) };
}
