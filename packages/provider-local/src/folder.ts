import { realpathSync } from "node:fs";
import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { ownerLabel } from "@sandkit/core/kit";
import { hasErrno, onPath } from "./errors.js";

/** Where the folders of all sandboxes of this user are. */
export const sandboxesFolder = join(realpathSync(tmpdir()), `sandkit-local-${userInfo().uid}`);

/** The folders of one sandbox on the host. */
export class Folder {
  readonly root: string;

  constructor(id: string) {
    this.root = join(sandboxesFolder, id);
  }

  /** Makes it on the disk. */
  async make(): Promise<void> {
    await onPath("create", this.root, async () => {
      for (const path of [this.workdir, this.home, this.temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
      await writeFile(this.record, await ownerLabel());
    });
  }

  /** Where commands start. */
  get workdir(): string {
    return join(this.root, "work");
  }

  get home(): string {
    return join(this.root, "home");
  }

  get temporary(): string {
    return join(this.root, "tmp");
  }

  /** Says whose it is, for the one who finds it after its owner has died. */
  get record(): string {
    return join(this.root, "owner");
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
    await onPath("destroy", this.root, () => removeTree(this.root));
  }
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
