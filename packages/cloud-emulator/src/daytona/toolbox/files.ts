import { posix } from "node:path";
import type { Match, ReplaceRequest, ReplaceResult, FileInfo as WireFileInfo } from "@daytona/toolbox-api-client";
import { type FileInfo, messageOf } from "@sandkit/core";
import type { EmulatedBox } from "../../emulated-box.js";
import { daemonFailure } from "../api-failure.js";
import { run } from "./run.js";

/** Names on one command line of `stat`. */
const ownersAtOnce = 500;
/** Larger files are not searched. */
const maxSearchedBytes = 16 * 1024 * 1024;

/** `GET /files/info`. Follows links. */
export async function fileDetails(box: EmulatedBox, path: string): Promise<WireFileInfo> {
  const [info] = await describe(box, [await box.files.stat(path)]);
  if (!info) throw daemonFailure(404, `file not found: ${path}`, "FILE_NOT_FOUND");
  return info;
}

/** `GET /files`: what a folder holds, down to `depth` levels. Deeper ones carry their path. */
export async function listFiles(box: EmulatedBox, path: string, depth: number | undefined): Promise<WireFileInfo[]> {
  const found = await box.files.list(path, depth === undefined ? {} : { recursive: true, maxDepth: depth });
  const infos = await describe(box, found);
  return depth === undefined ? infos : infos.map((info, index) => ({ ...info, path: found[index]?.path ?? info.name }));
}

/** `POST /files/folder`. */
export async function makeFolder(box: EmulatedBox, path: string, mode: string): Promise<void> {
  await box.files.mkdir(path);
  await changeMode(box, path, mode);
}

/** `DELETE /files`. */
export async function deleteFile(box: EmulatedBox, path: string, recursive: boolean): Promise<void> {
  if (!recursive && (await box.files.stat(path, { followSymlinks: false })).type === "directory") {
    throw daemonFailure(400, "cannot delete directory without recursive flag");
  }
  if (!(await box.files.remove(path, { recursive }))) {
    throw daemonFailure(404, `file not found: ${path}`, "FILE_NOT_FOUND");
  }
}

/** `POST /files/move`. Never replaces what is there. */
export async function moveFile(box: EmulatedBox, source: string, destination: string): Promise<void> {
  if (await box.files.exists(destination)) throw daemonFailure(409, "destination already exists");
  await box.files.move(source, destination);
}

/** `POST /files/permissions`. */
export async function setPermissions(
  box: EmulatedBox,
  path: string,
  { mode, owner, group }: { readonly mode?: string; readonly owner?: string; readonly group?: string },
): Promise<void> {
  await box.files.stat(path);
  if (mode !== undefined) await changeMode(box, path, mode);
  if (owner === undefined && group === undefined) return;
  const { exitCode, stderr } = await run(box, ["chown", "--", `${owner ?? ""}${group ? `:${group}` : ""}`, path]);
  if (exitCode !== 0) throw daemonFailure(400, stderr.toString("utf8").trim());
}

/** `GET /files/search`: paths below a folder whose name fits a pattern of the shell's. */
export async function searchFiles(box: EmulatedBox, path: string, pattern: string): Promise<{ files: string[] }> {
  await box.files.list(path, { limit: 1 });
  const { stdout } = await run(box, ["find", path, "-name", pattern, "-print0"]);
  return { files: stdout.toString("utf8").split("\0").filter(Boolean) };
}

/** `GET /files/find`: lines of text files at or below a path that contain a text. */
export async function findInFiles(box: EmulatedBox, path: string, pattern: string): Promise<Match[]> {
  const top = await box.files.stat(path);
  const files = top.type === "directory" ? await box.files.list(path, { recursive: true }) : [top];
  const matches: Match[] = [];
  for (const { path: file, type, size } of files) {
    if (type !== "file" || size > maxSearchedBytes) continue;
    const bytes = Buffer.from(await box.files.read(file));
    if (bytes.includes(0)) continue;
    for (const [index, content] of bytes.toString("utf8").split("\n").entries()) {
      if (content.includes(pattern)) matches.push({ file, line: index + 1, content });
    }
  }
  return matches;
}

/** `POST /files/replace`: a text by another in each of the files; each has a result of its own. */
export async function replaceInFiles(box: EmulatedBox, request: ReplaceRequest): Promise<ReplaceResult[]> {
  const results: ReplaceResult[] = [];
  for (const file of request.files) {
    try {
      const text = await box.files.readText(file);
      await box.files.write(
        file,
        text.replaceAll(request.pattern, () => request.newValue),
      );
      results.push({ file, success: true });
    } catch (error) {
      results.push({ file, success: false, error: messageOf(error) });
    }
  }
  return results;
}

async function changeMode(box: EmulatedBox, path: string, mode: string): Promise<void> {
  if (!/^[0-7]{3,4}$/.test(mode)) throw daemonFailure(400, `invalid mode: ${mode}`);
  const { exitCode, stderr } = await run(box, ["chmod", "--", mode, path]);
  if (exitCode !== 0) throw daemonFailure(400, stderr.toString("utf8").trim());
}

async function describe(box: EmulatedBox, found: readonly FileInfo[]): Promise<WireFileInfo[]> {
  const owners: string[] = [];
  for (let at = 0; at < found.length; at += ownersAtOnce) {
    const paths = found.slice(at, at + ownersAtOnce).map(({ path }) => path);
    const { stdout } = await run(box, ["stat", "-c", "%U %G", "--", ...paths]);
    owners.push(...stdout.toString("utf8").trimEnd().split("\n"));
  }
  return found.map((info, index) => toWire(info, owners[index] ?? " "));
}

function toWire({ path, type, size, mode, modifiedAt }: FileInfo, owners: string): WireFileInfo {
  const [owner = "", group = ""] = owners.split(" ");
  return {
    name: posix.basename(path),
    isDir: type === "directory",
    size,
    mode: modeText(type, mode),
    permissions: mode.toString(8).padStart(4, "0"),
    modTime: modifiedAt.toISOString(),
    modifiedAt: modifiedAt.toISOString(),
    owner,
    group,
  };
}

/** As Go prints it: `drwxr-xr-x`. */
function modeText(type: FileInfo["type"], mode: number): string {
  const kind = { file: "-", directory: "d", symlink: "L", other: "?" }[type];
  return kind + [..."rwxrwxrwx"].map((letter, index) => (mode & (0o400 >> index) ? letter : "-")).join("");
}
