import { constants } from "node:fs";
import { lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AgentFailure } from "./failure.mjs";

/** How often directories may be found filled again before a removal is given up. */
const maxRefills = 8;
/** With O_PATH, which Node does not name: enough to name what is in it. */
const holdFolder = 0o10000000 | constants.O_DIRECTORY;
const enterFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a directory and all in it. Names, which need not be text, are looked up in a descriptor of their directory;
 * there is one at most, whatever the depth: on the way back up each directory must be the one that it was on the way
 * down, so that no link or rename leads elsewhere.
 */
export async function removeTree(path) {
  let folder = await open(dirname(path), holdFolder);
  /** Of each directory on the way down: the one above, its own name, and the names in it that are left. */
  const levels = [{ above: null, own: null, names: [Buffer.from(basename(path))] }];
  let refills = maxRefills;
  const enter = async (next) => {
    const left = folder;
    folder = next;
    await left.close();
  };
  try {
    for (;;) {
      const { above, own, names } = levels.at(-1);
      const name = names.pop();
      if (name !== undefined) {
        if (await removeEntry(within(folder, name))) continue;
        const above = await identityOf(folder);
        const inner = await open(within(folder, name), enterFolder).catch(orReplaced);
        if (inner) {
          await enter(inner);
          levels.push({ above, own: name, names: await readdir(placeOf(folder), { encoding: "buffer" }) });
        } else {
          names.push(name);
        }
        continue;
      }
      levels.pop();
      if (own === null) return;
      await enter(await open(within(folder, Buffer.from("..")), holdFolder));
      if ((await identityOf(folder)) !== above) {
        throw new AgentFailure("EBUSY", "the directory was moved while it was removed");
      }
      try {
        await rmdir(within(folder, own));
      } catch (error) {
        if (error.code === "ENOENT") continue;
        // Somebody puts files into it meanwhile, or has put something else in its place.
        if (!["ENOTEMPTY", "ENOTDIR"].includes(error.code)) throw error;
        if (refills === 0) throw error.code === "ENOTDIR" ? keptBusy(own) : error;
        refills -= 1;
        levels.at(-1).names.push(own);
      }
    }
  } finally {
    await folder.close();
  }
}

const keptBusy = (name) => new AgentFailure("EBUSY", `"${name}" is replaced again and again while it is removed`);
const placeOf = (folder) => `/proc/self/fd/${folder.fd}`;
const within = (folder, name) => Buffer.concat([Buffer.from(`${placeOf(folder)}/`), name]);

async function identityOf(folder) {
  const { dev, ino } = await folder.stat({ bigint: true });
  return `${dev}:${ino}`;
}

/** Removes anything but a directory. True when nothing has the name any more. */
async function removeEntry(path) {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (error.code === "ENOENT") return true;
    if (error.code === "EISDIR" || (error.code === "EPERM" && (await lstat(path)).isDirectory())) return false;
    throw error;
  }
}

/** Undefined for what was removed or replaced between being seen and being entered: it is looked at again. */
function orReplaced(error) {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}
