import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { messageOf } from "@sandkit/core";
import type { WebSocket } from "ws";
import { refuseUpgrade, type Upgrade } from "../../http/listen.js";
import { daemonFailure, failureBody, toApiFailure } from "../api-failure.js";
import { interpret } from "./interpreter-socket.js";
import { commandOf, ptyRequest } from "./process-routes.js";
import type { Toolbox } from "./toolbox.js";
import { acceptWebSocket, offeredProtocols, sendFrame } from "./web-socket.js";

const exitControl = "X-Daytona-Pty-Exit-Control";
const envPrefix = "X-Daytona-Pty-Envs~";

const routes: readonly (readonly [RegExp, (toolbox: Toolbox, upgrade: Upgrade, names: string[]) => Promise<void>])[] = [
  [/^\/process\/pty\/create-connect$/, createPty],
  [/^\/process\/pty\/([^/]+)\/connect$/, connectPty],
  [/^\/process\/session\/([^/]+)\/command\/([^/]+)\/logs$/, followLogs],
  [/^\/process\/interpreter\/execute$/, interpret],
];

/** Answers a WebSocket to the program in a sandbox; `path` is what stands after the sandbox's id. */
export async function upgradeToolbox(toolbox: Toolbox, upgrade: Upgrade, path: string): Promise<void> {
  toolbox.holdSocket(upgrade.socket);
  try {
    for (const [pattern, answer] of routes) {
      const match = pattern.exec(path);
      if (match) return await answer(toolbox, upgrade, match.slice(1).map(decodeURIComponent));
    }
    throw daemonFailure(404, `no WebSocket at ${path}`);
  } catch (error) {
    const failure = toApiFailure(error, "DAYTONA_DAEMON");
    const body = JSON.stringify(failureBody(failure, "GET", upgrade.url.pathname));
    upgrade.record.status = failure.status;
    refuseUpgrade(upgrade.socket, failure.status, body, { "content-type": "application/json" });
  }
}

async function createPty(toolbox: Toolbox, upgrade: Upgrade): Promise<void> {
  const { searchParams: query } = upgrade.url;
  const request = ptyRequest(toolbox, {
    id: query.get("id") ?? "",
    cols: Number(query.get("cols") ?? 80),
    rows: Number(query.get("rows") ?? 24),
    cwd: query.get("cwd") ?? ".",
    envs: envOf(offeredProtocols(upgrade)),
  });
  await withPty(upgrade, () => toolbox.createPty(request));
}

function connectPty(toolbox: Toolbox, upgrade: Upgrade, [id = ""]: string[]): Promise<void> {
  return withPty(upgrade, () => toolbox.pty(id));
}

/** Connects a client to a terminal. Why that cannot be is told over the WebSocket, in a message of control. */
async function withPty(upgrade: Upgrade, find: () => ReturnType<Toolbox["pty"]>): Promise<void> {
  const socket = await acceptWebSocket(upgrade);
  try {
    await find().attach({ socket, exitControl: offeredProtocols(upgrade).includes(exitControl) });
  } catch (error) {
    const message = messageOf(error);
    socket.resume();
    await sendFrame(socket, JSON.stringify({ type: "control", status: "error", error: message }));
    socket.close(1008, JSON.stringify({ error: message }).slice(0, 120));
  }
}

/** Sends the log of a command as it grows, and closes some time after its end. */
async function followLogs(toolbox: Toolbox, upgrade: Upgrade, [session = "", id = ""]: string[]): Promise<void> {
  const command = commandOf(toolbox, { session, command: id });
  const socket = await acceptWebSocket(upgrade);
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  socket.resume();
  const { logFrameBytes, logCloseDelayMs } = toolbox.quirks;
  for await (const frame of command.log.frames(logFrameBytes, gone.signal)) await sendFrame(socket, frame);
  await setTimeout(logCloseDelayMs);
  await close(socket);
}

async function close(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  socket.close(1000);
  await once(socket, "close");
}

function envOf(protocols: readonly string[]): Record<string, string> {
  const token = protocols.find((one) => one.startsWith(envPrefix));
  if (!token) return {};
  try {
    return JSON.parse(Buffer.from(token.slice(envPrefix.length), "base64url").toString("utf8"));
  } catch {
    throw daemonFailure(400, "the environment of the terminal is not valid JSON");
  }
}
