import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { type AskedPackages, SandboxError } from "@sandkit/core";
import { createTarPacker, type TarHeader } from "modern-tar";
import { type AddEntry, addTarFile } from "../add-tar-file.js";
import type { EngineClient } from "../engine/client.js";
import { jsonLines } from "../engine/json-lines.js";
import { engineError, providerName, wordsOf } from "../errors.js";
import type { BoxRun } from "../run-in-box.js";
import { snapshotKey } from "../snapshot-labels.js";
import { guestFile } from "./guest-file.js";
import { copyLayerFiles } from "./layer-files.js";
import { baseKey, lockKey, lockText, type PackageSet, setKey } from "./package-set.js";
import { places } from "./places.js";

/** What an image of a set is made of. */
export interface SetParts {
  readonly set: PackageSet;
  /** Id of the image below. */
  readonly base: string;
  /** What the box of the installation packs: `python/…` and `node/…`. */
  readonly archive: ReadableStream<Uint8Array>;
  /** How packing has ended. */
  readonly packed: Promise<BoxRun>;
  /** Where the image's Python looks for packages, and where those of the set are. */
  readonly python?: { readonly site: string; readonly folder: string } | undefined;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

const pth = "import sandkit_packages\n";

/**
 * Builds the image of a set: its base, and nothing but the files of the packages over it.
 * @returns What was installed.
 */
export async function buildSet(engine: EngineClient, parts: SetParts): Promise<readonly string[]> {
  const { set, signal } = parts;
  const { readable, controller } = createTarPacker();
  const packing = packContext(parts, controller.add);
  packing.then(
    () => controller.finalize(),
    (error) => controller.error(error),
  );
  const body = Readable.fromWeb(readable as WebStream<Uint8Array>);
  // Destroyed on abort, it fails for whoever still listens; what counts is told by the signal.
  body.on("error", () => undefined);
  try {
    const output = (await engine.dockerode.buildImage(body, {
      t: set.reference,
      forcerm: true,
      // Nothing of it is to run; what did could reach nothing.
      networkmode: "none",
      abortSignal: signal,
    })) as Readable;
    const stop = () => output.destroy();
    signal.addEventListener("abort", stop, { once: true });
    for await (const event of jsonLines(output)) if (typeof event.error === "string") throw new Error(event.error);
    signal.removeEventListener("abort", stop);
    return await packing;
  } catch (error) {
    body.destroy();
    signal.throwIfAborted();
    // What went wrong with the files is why the engine got none.
    await packing;
    throw buildFailure(set, error);
  }
}

async function packContext(parts: SetParts, add: AddEntry): Promise<readonly string[]> {
  const { set, base, archive, packed, python, mostBytes } = parts;
  const lock = await copyLayerFiles(archive, add, { bytes: mostBytes });
  requireWhole(await packed);
  const write = (name: string, text: string) => addTarFile(add, name, new TextEncoder().encode(text), 0o644);
  if (python) {
    await write("site/sandkit_packages.py", await guestFile("sandkit_packages.py"));
    await write("site/sandkit-packages.txt", `${python.folder}\n`);
    await write("site/sandkit-packages.pth", pth);
  }
  if (set.asked.node.length > 0) {
    // There they are found by `require` and by `import` from any directory, which they would not be by `NODE_PATH`.
    const link: TarHeader = { name: "root/node_modules", type: "symlink", size: 0, mode: 0o777, uid: 0, gid: 0 };
    await add({ ...link, linkname: `${places.node}/node_modules` }).close();
  }
  await write("Dockerfile", dockerfile(set, base, lock, python?.site));
  return lock;
}

/** What tar could not read is not in the archive. */
function requireWhole({ exitCode, words }: BoxRun): void {
  if (exitCode === 0) return;
  const message = `not all that the packages installed could be read (tar: ${exitCode}): ${words}: leave the package out that makes it`;
  throw new SandboxError("INVALID", message, { provider: providerName, operation: "create" });
}

function dockerfile(set: PackageSet, base: string, lock: readonly string[], site: string | undefined): string {
  const copy = (from: string, to: string) => `COPY ${JSON.stringify([from, to])}`;
  const { python, node }: AskedPackages = set.asked;
  return [
    `FROM ${base}`,
    ...(python.length > 0 ? [copy("python/", `${places.python}/`), copy("site/", `${site}/`)] : []),
    ...(node.length > 0 ? [copy("node/", `${places.node}/`), copy("root/", "/")] : []),
    // Over a snapshot it is none: a snapshot of its sandboxes keeps the packages.
    `LABEL ${setKey}=${set.key} ${baseKey}=${base} ${lockKey}="${lockText(lock)}" ${snapshotKey}=""`,
    "",
  ].join("\n");
}

function buildFailure(set: PackageSet, error: unknown): SandboxError {
  if (/no space left/i.test(wordsOf(error))) {
    const message = `the image of packages ${set.names.join(", ")} could not be kept: the engine's disk is full: make room (docker system prune)`;
    return new SandboxError("NO_SPACE", message, { provider: providerName, operation: "create", cause: error });
  }
  return engineError(error, { operation: "create", subject: `the image of packages ${set.names.join(", ")}` });
}
