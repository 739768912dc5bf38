import type { Duplex } from "node:stream";
import type { Sandbox } from "@sandkit/core";

/** A container, as dockerode has it. */
export interface Container {
  exec(options: object): Promise<ContainerExec>;
  pause(): Promise<unknown>;
  unpause(): Promise<unknown>;
}

/** A program that the engine runs in one. */
export interface ContainerExec {
  start(options: object): Promise<Duplex>;
  inspect(): Promise<{ readonly ExitCode: number | null; readonly Running: boolean }>;
  resize(size: { readonly h: number; readonly w: number }): Promise<unknown>;
}

/** A sandbox that is a container. */
export interface ContainerBox {
  readonly container: Container;
  /** Who its programs run as, `uid:gid`. */
  readonly user: string;
  /** What ran in it from the beginning: it ends with these. */
  readonly firstPids: readonly string[];
}

/** The container that a sandbox is; undefined where it is none. */
export async function containerOf(sandbox: Sandbox): Promise<ContainerBox | undefined> {
  const native: unknown = sandbox.native();
  if (typeof native !== "object" || native === null || !("container" in native)) return undefined;
  const { container } = native;
  if (!isContainer(container)) return undefined;
  const { stdout } = await sandbox.exec('echo "$(id -u):$(id -g)"; cd /proc && echo [0-9]*');
  const [user = "", ...firstPids] = stdout.text.trim().split(/\s+/);
  return { container, user, firstPids };
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null && "exec" in value && "pause" in value && "unpause" in value;
}
