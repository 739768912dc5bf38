import type { FilesDownloadRequest, ReplaceRequest } from "@daytona/toolbox-api-client";
import type { Exchange } from "../../http/exchange.js";
import { daemonFailure } from "../api-failure.js";
import {
  deleteFile,
  fileDetails,
  findInFiles,
  listFiles,
  makeFolder,
  moveFile,
  replaceInFiles,
  searchFiles,
  setPermissions,
} from "./files.js";
import type { Toolbox } from "./toolbox.js";
import type { ToolboxHandler } from "./toolbox-routes.js";
import { downloadFile, downloadFiles, uploadFile, uploadFiles } from "./transfers.js";

/** `/files`. */
export const fileRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "GET /files": (toolbox, exchange) => {
    const depth = exchange.query.get("depth");
    const path = toolbox.path(exchange.query.get("path") ?? ".");
    return listFiles(toolbox.box, path, depth === null ? undefined : depthOf(depth));
  },
  "DELETE /files": async (toolbox, exchange) => {
    await deleteFile(toolbox.box, pathOf(toolbox, exchange), exchange.query.get("recursive") === "true");
    await exchange.bytes(204, undefined);
  },
  "GET /files/info": (toolbox, exchange) => fileDetails(toolbox.box, pathOf(toolbox, exchange)),
  "POST /files/folder": async (toolbox, exchange) => {
    await makeFolder(toolbox.box, pathOf(toolbox, exchange), exchange.query.get("mode") ?? "0755");
    await exchange.bytes(201, undefined);
  },
  "POST /files/move": async (toolbox, exchange) => {
    await moveFile(toolbox.box, pathOf(toolbox, exchange, "source"), pathOf(toolbox, exchange, "destination"));
    await exchange.bytes(200, undefined);
  },
  "POST /files/permissions": async (toolbox, exchange) => {
    const { query } = exchange;
    const [mode, owner, group] = ["mode", "owner", "group"].map((name) => query.get(name) || undefined);
    await setPermissions(toolbox.box, pathOf(toolbox, exchange), { mode, owner, group });
    await exchange.bytes(200, undefined);
  },
  "GET /files/search": (toolbox, exchange) =>
    searchFiles(toolbox.box, pathOf(toolbox, exchange), textOf(exchange, "pattern")),
  "GET /files/find": (toolbox, exchange) =>
    findInFiles(toolbox.box, pathOf(toolbox, exchange), textOf(exchange, "pattern")),
  "POST /files/replace": async (toolbox, exchange) => {
    const request = await exchange.readJson<ReplaceRequest>();
    return replaceInFiles(toolbox.box, { ...request, files: request.files.map((file) => toolbox.path(file)) });
  },
  "GET /files/download": (toolbox, exchange) => downloadFile(toolbox, exchange, textOf(exchange, "path")),
  "POST /files/bulk-download": async (toolbox, exchange) => {
    const { paths = [] } = await exchange.readJson<Partial<FilesDownloadRequest>>();
    await downloadFiles(toolbox, exchange, paths);
  },
  "POST /files/bulk-upload": async (toolbox, exchange) => {
    await uploadFiles(toolbox, exchange);
    await exchange.bytes(200, undefined);
  },
  "POST /files/upload-v2": async (toolbox, exchange) => {
    const path = textOf(exchange, "path");
    await uploadFile(toolbox, exchange, path);
    return { name: path.split("/").at(-1) ?? path, path: toolbox.path(path), type: "file" };
  },
};

function pathOf(toolbox: Toolbox, exchange: Exchange, name = "path"): string {
  return toolbox.path(textOf(exchange, name));
}

function textOf({ query }: Exchange, name: string): string {
  const value = query.get(name);
  if (!value) throw daemonFailure(400, `${name} is required`);
  return value;
}

function depthOf(text: string): number {
  const depth = Number(text);
  if (!Number.isInteger(depth) || depth < 1) throw daemonFailure(400, "depth must be a whole number of at least 1");
  return depth;
}
