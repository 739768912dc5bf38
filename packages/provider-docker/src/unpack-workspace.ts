import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { type ProviderSession, SandboxError } from "@sandkit/core";
import { providerName } from "./errors.js";
import { hasGnuTar } from "./pack-workspace.js";
import { type BoxRun, type RunInBoxOptions, startInBox } from "./run-in-box.js";

/** What an archive of a sandbox is unpacked by. */
export interface UnpackPlan extends RunInBoxOptions {
  /** Directories that can be written to and are root's (Podman has such): their own times and modes stay as they are. */
  readonly foreign: readonly string[];
}

/** Of tar. Times and modes of directories come last, or what is in them would change them again. */
const unpacking = (isGnu: boolean, foreign: readonly string[]) => [
  ...["-x", "-p", ...(isGnu ? ["--delay-directory-restore", ...except(foreign)] : [])],
  ...["-f", "-", "-C", "/"],
];

/** Not to recurse is said of the patterns here: what is in these directories is unpacked. */
function except(directories: readonly string[]): string[] {
  const patterns = directories.map((path) => `--exclude=./${posix.relative("/", path)}`);
  return patterns.length === 0 ? [] : ["--anchored", "--no-wildcards", "--no-recursion", ...patterns];
}

/**
 * Unpacks an archive that lies in parts in the image of a box.
 * @throws SandboxError `NO_SPACE` when it does not fit
 */
export async function unpackParts(session: ProviderSession, parts: string, plan: UnpackPlan): Promise<void> {
  const isGnu = await hasGnuTar(session, plan.env);
  const unpack = await readFile(new URL("./guest/unpack.sh", import.meta.url), "utf8");
  const program = await startInBox(
    session,
    ["sh", "-c", unpack, "unpack", parts, ...unpacking(isGnu, plan.foreign)],
    plan,
  );
  await program.stdout.cancel();
  await requireUnpacked(session, await program.ended);
}

/**
 * Unpacks one archive in several boxes of one image, as fast as the slowest takes it.
 * @throws SandboxError `NO_SPACE` when it does not fit
 */
export async function unpackStream(
  sessions: readonly ProviderSession[],
  tar: ReadableStream<Uint8Array>,
  plan: UnpackPlan,
): Promise<void> {
  const programs = await startUnpacking(sessions, plan).catch(async (error) => {
    // What packs would wait for ever for somebody to take it.
    await tar.cancel(error);
    throw error;
  });
  for await (const chunk of tar) await Promise.all(programs.map(({ program }) => program.write(chunk)));
  await Promise.all(
    programs.map(async ({ session, program }) => {
      await program.closeStdin();
      await requireUnpacked(session, await program.ended);
    }),
  );
}

function startUnpacking(sessions: readonly ProviderSession[], plan: UnpackPlan) {
  return Promise.all(
    sessions.map(async (session) => {
      const command = ["tar", ...unpacking(await hasGnuTar(session, plan.env), plan.foreign)];
      const program = await startInBox(session, command, { ...plan, stdin: true });
      await program.stdout.cancel();
      return { session, program };
    }),
  );
}

async function requireUnpacked(session: ProviderSession, { exitCode, words }: BoxRun): Promise<void> {
  if (exitCode === 0) return;
  const where = { provider: providerName, sandboxId: session.ref.id, operation: "create" };
  const full = await fullPlace(session);
  if (full !== undefined) {
    const next = "give the sandbox as much as that had: resources.diskMiB, or more resources.memoryMiB";
    throw new SandboxError("NO_SPACE", `what was saved does not fit in ${full} of the sandbox: ${next}`, where);
  }
  const message = `what was saved could not be unpacked (tar: ${exitCode}): ${words}: try again, or take it anew`;
  throw new SandboxError("UNAVAILABLE", message, where);
}

/** Which place of the box takes not a byte more: the system says so by its number, tar in words alone. */
async function fullPlace(session: ProviderSession): Promise<string | undefined> {
  for (const place of new Set([session.workdir, "/tmp", "/app", "/tools"])) {
    const path = `${place}/.sandkit-room`;
    try {
      await session.files.write(path, new Blob([new Uint8Array(1)]).stream(), { mode: "truncate" });
      await session.files.remove(path, { recursive: false });
    } catch (error) {
      if (error instanceof SandboxError && error.code === "NO_SPACE") return place;
    }
  }
  return undefined;
}
