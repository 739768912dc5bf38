import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";
import type { Launch, Wall } from "./wall.js";
import { isIsolating, walls } from "./walls.js";

/**
 * `auto`: the strongest wall of the operating system that works here. `required`: fails where none does. `portable`:
 * none, as on systems that have none.
 */
export type HardeningLevel = "auto" | "portable" | "required";

/** Starts a child by this command line. */
type Start<Child> = (command: readonly string[]) => Promise<Child>;

const probeMs = 10_000;
/** How long a refusal is believed: what stood in the way may pass, and a weaker wall must not stay for it. */
const refusalMs = 60_000;
/** Failures of a start that say nothing of the wall: the machine had no process, memory or file left for it. */
const passing = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]);
/** Walls that were found not to work on this machine, and why; the others are thought to. */
const refusals = new Map<Wall["name"], { readonly reason: string; readonly until: number }>();
/** Walls that have held a child of this program: nothing that fails later is theirs. */
const proven = new Set<Wall["name"]>();

/** What a machine makes of a level. */
export interface Hardened {
  readonly wall: Wall | undefined;
  /** Why the stronger ones are not used, by name. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Starts a child behind the strongest wall that works. A start that fails is only tried behind a weaker one when the
 * wall itself does not work here.
 * @throws SandboxError `UNAVAILABLE` when a wall is required and none works; what `start` throws
 */
export async function startHardened<Child>(level: HardeningLevel, launch: Launch, start: Start<Child>): Promise<Child> {
  for (const wall of candidates(level)) {
    const command = wall.command(launch);
    if (!command) {
      refuse(wall, "its programs are not installed");
      continue;
    }
    try {
      const child = await start(command);
      proven.add(wall.name);
      return child;
    } catch (error) {
      const reason = proven.has(wall.name) ? undefined : await whyNot(wall, launch);
      if (reason === undefined) throw error;
      refuse(wall, reason);
    }
  }
  if (level === "required") throw noWall();
  return start(launch.command);
}

/** What a start would be behind now. */
export async function findHardening(level: HardeningLevel, launch: Launch): Promise<Hardened> {
  for (const wall of candidates(level)) {
    const reason = await whyNot(wall, launch);
    if (reason === undefined) return { wall, refused: refused() };
    refuse(wall, reason);
  }
  return { wall: undefined, refused: refused() };
}

/** What to do where no wall works. */
export const hardeningFix = [
  "sudo apt-get install bubblewrap (or the like)",
  "sudo sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0",
];

/** `behind bubblewrap (no network, …)`, or why behind nothing. */
export function describeWall(hardened: Hardened): string {
  const { wall } = hardened;
  const instead = hardened.refused.size > 0 ? ` (not ${describeRefused(hardened)})` : "";
  return wall ? `behind ${wall.name}: ${wall.takes}${instead}` : `behind nothing of the operating system${instead}`;
}

/** Why the walls that do not work do not. */
export function describeRefused({ refused }: Hardened): string {
  return Array.from(refused, ([name, reason]) => `${name}: ${reason}`).join("; ") || `${process.platform} has none`;
}

function candidates(level: HardeningLevel): readonly Wall[] {
  if (level === "portable") return [];
  const known = refused();
  return walls.filter((wall) => !known.has(wall.name) && (level === "auto" || isIsolating(wall)));
}

function refuse({ name }: Wall, reason: string): void {
  refusals.set(name, { reason, until: performance.now() + refusalMs });
}

/** Why walls are not used now, by name. */
function refused(): ReadonlyMap<string, string> {
  const now = performance.now();
  const standing = [...refusals].filter(([, { until }]) => until > now);
  return new Map(standing.map(([name, { reason }]) => [name, reason]));
}

/** Why Node does not run behind a wall; undefined when it does, or when the machine is too busy to tell. */
async function whyNot(wall: Wall, launch: Launch): Promise<string | undefined> {
  const [program, ...args] = wall.command({ ...launch, command: [process.execPath, "--version"] }) ?? [];
  if (program === undefined) return "its programs are not installed";
  try {
    await promisify(execFile)(program, args, { env: {}, cwd: "/", timeout: probeMs });
    return undefined;
  } catch (error) {
    if (error instanceof Error && "killed" in error && error.killed) return undefined;
    if (error instanceof Error && "code" in error && passing.has(String(error.code))) return undefined;
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    return said.split("\n").at(-1) || String(error);
  }
}

function noWall(): SandboxError {
  const tried = describeRefused({ wall: undefined, refused: refused() });
  const fix = `${hardeningFix.join("; ")}; or leave the option out`;
  const message = `option "hardening": nothing of this machine isolates a process (${tried}): ${fix}`;
  return new SandboxError("UNAVAILABLE", message, { provider: providerName, operation: "create", retryable: false });
}
