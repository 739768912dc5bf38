import { posix } from "node:path";
import { type ProviderSession, SandboxError } from "@sandkit/core";
import { providerName } from "./errors.js";
import { runInBox, startInBox } from "./run-in-box.js";

/** What tar gives when a file was changed while it was read: its bytes of that moment are in the archive. */
const changedMeanwhile = 1;

/** Of a root, what is the engine's: its mounts, and the archive that the sandbox itself was made from. */
const outside = ["dev", "proc", "sys", ".sandkit", ".dockerenv", "etc/hostname", "etc/hosts", "etc/resolv.conf"].map(
  (path) => `--exclude=./${path}`,
);

/** What an archive of a sandbox is to hold. */
export interface ArchivePlan {
  /** Directories that can be written to, each a file system of its own. */
  readonly roots: readonly string[];
  /** On a writable root: what was changed there after this time too. */
  readonly rootSince?: Date | undefined;
  /** Of the programs that pack. */
  readonly env: Readonly<Record<string, string>>;
}

/** What was written in a sandbox, as its own tar packs it. */
export interface WorkspaceArchive {
  /** Fails at its end when not all could be packed. */
  readonly tar: ReadableStream<Uint8Array>;
  /** Absolute paths of sockets, which have no form in it. */
  readonly skipped: readonly string[];
}

/**
 * Packs what was written in a box, by the box itself: modes, times, links of both kinds, holes and named pipes are kept.
 * @throws SandboxError `UNSUPPORTED` when the image has no tar
 */
export async function packWorkspace(session: ProviderSession, plan: ArchivePlan): Promise<WorkspaceArchive> {
  const { roots, rootSince, env } = plan;
  const isGnu = await hasGnuTar(session, env);
  if (rootSince && !isGnu) throw noTar(session, 'GNU tar, for what was written on the root of "unsafeRoot"');
  const [sockets, program] = await Promise.all([
    runInBox(session, ["find", ...roots, "-xdev", "-type", "s", "-print0"], { env }),
    startInBox(session, ["tar", ...packing(isGnu, roots, rootSince)], { env }),
  ]);
  const skipped = sockets.output.toString().split("\0").filter(Boolean);
  return { tar: untilItsEnd(session, program, isGnu), skipped };
}

function packing(isGnu: boolean, roots: readonly string[], rootSince: Date | undefined): string[] {
  return [
    "-c",
    ...(isGnu ? ["--sparse", "--format=posix", "--one-file-system"] : []),
    ...["-f", "-", "-C", "/"],
    // What was there at the start is of the image.
    ...(rootSince ? [...outside, `--newer=@${Math.floor(rootSince.getTime() / 1000)}`, "."] : []),
    ...roots.map((root) => `./${posix.relative("/", root)}`),
  ];
}

/** Whether the tar of a box is the one that knows holes. @throws SandboxError `UNSUPPORTED` when there is none */
export async function hasGnuTar(session: ProviderSession, env: Readonly<Record<string, string>>): Promise<boolean> {
  const { exitCode, output } = await runInBox(session, ["tar", "--version"], { env });
  if (exitCode === 127) throw noTar(session, "tar and find");
  return exitCode === 0 && output.includes("GNU tar");
}

function noTar(session: ProviderSession, what: string): SandboxError {
  const message = `snapshots need ${what} in the image, which this one does not have: use another image, or files.exportTar`;
  return new SandboxError("UNSUPPORTED", message, { provider: providerName, sandboxId: session.ref.id });
}

/** The output of a packer, which is whole only when that says so. */
function untilItsEnd(
  session: ProviderSession,
  program: Awaited<ReturnType<typeof startInBox>>,
  isGnu: boolean,
): ReadableStream<Uint8Array> {
  const reader = program.stdout.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        const { exitCode, words } = await program.ended;
        if (exitCode === 0 || (isGnu && exitCode === changedMeanwhile)) return controller.close();
        const message = `not all files could be packed (tar: ${exitCode}): ${words}: make them readable, and try again`;
        const where = { provider: providerName, sandboxId: session.ref.id, operation: "snapshot" };
        throw new SandboxError("PERMISSION", message, where);
      },
      async cancel(reason) {
        await program.kill();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
