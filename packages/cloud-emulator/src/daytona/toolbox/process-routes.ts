import type {
  CodeRunRequest,
  CreateSessionRequest,
  ExecuteRequest,
  PtyCreateRequest,
  PtyResizeRequest,
  SessionExecuteRequest,
  SessionSendInputRequest,
} from "@daytona/toolbox-api-client";
import { daemonFailure } from "../api-failure.js";
import { execute, runCode } from "./execute.js";
import type { PtyRequest } from "./pty.js";
import type { SessionCommand } from "./session-command.js";
import type { Toolbox } from "./toolbox.js";
import type { ToolboxHandler } from "./toolbox-routes.js";

/** `/process`, all but what goes over WebSockets. */
export const processRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "POST /process/execute": async (toolbox, exchange) => {
    const request = await exchange.readJson<ExecuteRequest>();
    if (!request.command) throw daemonFailure(400, "command is required");
    const cwd = toolbox.path(request.cwd ?? ".");
    return execute(toolbox.box, { ...request, cwd }, toolbox.env(request.envs));
  },
  "POST /process/code-run": async (toolbox, exchange) => {
    const request = await exchange.readJson<CodeRunRequest>();
    return runCode(toolbox.box, request, toolbox.env(request.envs));
  },

  "POST /process/session": async (toolbox, exchange) => {
    await toolbox.createSession((await exchange.readJson<CreateSessionRequest>()).sessionId);
    await exchange.bytes(201, undefined);
  },
  "GET /process/session": (toolbox) => [...toolbox.sessions.values()].map((session) => session.info),
  "GET /process/session/:session": (toolbox, _exchange, { session = "" }) => toolbox.session(session).info,
  "DELETE /process/session/:session": async (toolbox, exchange, { session = "" }) => {
    await toolbox.deleteSession(session);
    await exchange.bytes(204, undefined);
  },
  "POST /process/session/:session/exec": async (toolbox, exchange, { session = "" }) => {
    const request = await exchange.readJson<SessionExecuteRequest>();
    if (!request.command) throw daemonFailure(400, "command is required");
    const command = await toolbox.session(session).execute(request);
    if (request.runAsync || request.async) return exchange.json(202, { cmdId: command.id });
    await command.finished;
    return { cmdId: command.id, exitCode: command.info.exitCode, ...command.logs };
  },
  "GET /process/session/:session/command/:command": (toolbox, _exchange, names) => commandOf(toolbox, names).info,
  "GET /process/session/:session/command/:command/logs": (toolbox, _exchange, names) => commandOf(toolbox, names).logs,
  "POST /process/session/:session/command/:command/input": async (toolbox, exchange, names) => {
    const { data } = await exchange.readJson<SessionSendInputRequest>();
    const command = commandOf(toolbox, names);
    if (command.info.exitCode !== undefined) {
      throw daemonFailure(410, "command has already completed", "COMMAND_ALREADY_COMPLETED");
    }
    await command.type(data);
    await exchange.bytes(204, undefined);
  },

  "POST /process/pty": async (toolbox, exchange) => {
    const request = ptyRequest(toolbox, await exchange.readJson<PtyCreateRequest>());
    const pty = toolbox.createPty(request);
    if (!request.lazyStart) await pty.start();
    await exchange.json(201, { sessionId: request.id });
  },
  "GET /process/pty": (toolbox) => ({ sessions: [...toolbox.ptys.values()].map((pty) => pty.info) }),
  "GET /process/pty/:pty": (toolbox, _exchange, { pty = "" }) => toolbox.pty(pty).info,
  "POST /process/pty/:pty/resize": async (toolbox, exchange, { pty = "" }) => {
    const { cols, rows } = await exchange.readJson<PtyResizeRequest>();
    if (!(cols >= 1 && cols <= 1000 && rows >= 1 && rows <= 1000)) {
      throw daemonFailure(400, "cols and rows must be between 1 and 1000");
    }
    await toolbox.pty(pty).resize(cols, rows);
    return toolbox.pty(pty).info;
  },
  "DELETE /process/pty/:pty": async (toolbox, _exchange, { pty = "" }) => {
    await toolbox.pty(pty).kill();
    return { message: "PTY session deleted" };
  },
};

/** A request for a terminal with what it leaves out. */
export function ptyRequest(toolbox: Toolbox, request: PtyCreateRequest): PtyRequest {
  const { id, cols = 80, rows = 24, cwd = ".", envs, lazyStart = false } = request;
  if (!id) throw daemonFailure(400, "id is required");
  return { id, columns: cols, rows, cwd: toolbox.path(cwd), env: toolbox.env(envs), lazyStart };
}

/** The command that a path names. @throws ApiFailure 404 */
export function commandOf(toolbox: Toolbox, names: Readonly<Record<string, string>>): SessionCommand {
  const found = toolbox.session(names.session ?? "").command(names.command ?? "");
  if (!found) throw daemonFailure(404, `command not found: ${names.command}`);
  return found;
}
