import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@sandkit/core";
import { refusal } from "../errors.js";
import { parseWheelName, type WheelName } from "./wheel-name.js";

/** A wheel that lies on this machine. */
export interface LocalWheel extends WheelName {
  readonly filename: string;
  readonly path: string;
}

/** The wheels in a directory. @throws SandboxError `INVALID` when there is no such directory */
export async function listWheels(directory: string): Promise<LocalWheel[]> {
  const names = await reading(directory, () => readdir(directory));
  return names.sort().flatMap((filename) => {
    const wheel = parseWheelName(filename);
    return wheel ? [{ ...wheel, filename, path: join(directory, filename) }] : [];
  });
}

/** Changes whenever a wheel in the directory does. */
export async function stampOf(directory: string): Promise<string> {
  const wheels = await listWheels(directory);
  const stamps = wheels.map(async ({ filename, path }) => {
    const { size, mtimeMs } = await reading(directory, () => stat(path));
    return `${filename} ${size} ${mtimeMs}`;
  });
  return (await Promise.all(stamps)).join("\n");
}

/** The bytes of a wheel there. */
export function readWheel(path: string): Promise<Buffer> {
  return reading(path, () => readFile(path));
}

async function reading<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw refusal("INVALID", `option "packages.wheelDir": ${path} cannot be read: ${messageOf(error)}`, "packages");
  }
}
