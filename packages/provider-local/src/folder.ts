import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { failure, hasErrno, onPath } from "./errors.js";
import { type Owner, thisProcess } from "./owner.js";

/** Where the folders of all sandboxes of this user are. */
export const sandboxesFolder = join(tmpdir(), `sandkit-local-${userInfo().uid}`);

/** What is written beside a sandbox, for the one who finds it after its owner has died. */
export interface FolderRecord {
  readonly owner: Owner;
  readonly workdir: string;
}

const recordName = "sandbox.json";

/** The folders of one sandbox on the host. */
export class Folder {
  readonly root: string;
  /** Where commands start; inside `root` unless asked elsewhere. */
  readonly workdir: string;

  private constructor(root: string, workdir: string) {
    this.root = root;
    this.workdir = workdir;
  }

  /** An existing folder, from its record. */
  static of(root: string, record: FolderRecord): Folder {
    return new Folder(root, record.workdir);
  }

  /** Makes the folders. @throws SandboxError `INVALID` for a `workdir` that exists: it would be shared, then removed */
  static async make(id: string, workdir: string | undefined): Promise<Folder> {
    const root = join(sandboxesFolder, id);
    const folder = new Folder(root, workdir ?? join(root, "work"));
    await onPath("create", root, async () => {
      for (const path of [folder.home, folder.temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
      const record: FolderRecord = { owner: await thisProcess(), workdir: folder.workdir };
      await writeFile(folder.recordPath, JSON.stringify(record));
    });
    try {
      await makeWorkdir(folder.workdir);
    } catch (error) {
      await rm(root, { recursive: true });
      throw error;
    }
    return folder;
  }

  get home(): string {
    return join(this.root, "home");
  }

  get temporary(): string {
    return join(this.root, "tmp");
  }

  get recordPath(): string {
    return join(this.root, recordName);
  }

  /** Whether it has not been removed, by whomever. */
  async exists(): Promise<boolean> {
    try {
      return (await stat(this.root)).isDirectory();
    } catch (error) {
      if (hasErrno(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** Removes all of it, whatever modes the programs have left. */
  async remove(): Promise<void> {
    for (const path of [this.workdir, this.root]) await onPath("destroy", path, () => removeTree(path));
  }
}

async function makeWorkdir(path: string): Promise<void> {
  await onPath("create", path, async () => {
    await mkdir(dirname(path), { recursive: true });
    try {
      await mkdir(path);
    } catch (error) {
      if (!hasErrno(error, "EEXIST")) throw error;
      const next = 'provider "local" works on the host and never in a folder that it did not make; name a new one';
      throw failure("INVALID", "create", `option "workdir": ${JSON.stringify(path)} exists: ${next}`, error);
    }
  });
}

async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!hasErrno(error, "EACCES", "EPERM")) throw error;
    await openUp(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes every directory below one that its owner has closed to himself removable. */
async function openUp(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(path, entry.name));
  }
}
