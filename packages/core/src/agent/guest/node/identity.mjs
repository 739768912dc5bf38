import { chmodSync, readFileSync, statSync } from "node:fs";

/** Root's own directories among these can be written to by everybody; those that are the user's stay so. */
export function openToAll(paths) {
  for (const path of paths) {
    const { uid, mode } = statSync(path);
    if (uid === 0 && (mode & 0o002) === 0) chmodSync(path, 0o1777);
  }
}

/**
 * Becomes the user that programs run as. That also makes this process non-dumpable, so that none of them can read
 * its memory or its descriptors, and takes its capabilities.
 */
export function becomeUser(uid, gid) {
  process.setgroups([gid]);
  process.setgid(gid);
  process.setuid(uid);
  const status = readFileSync("/proc/self/status", "utf8");
  for (const name of ["CapEff", "CapPrm", "CapInh"]) {
    const value = new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1];
    if (!/^0+$/.test(value ?? "")) throw new Error(`the agent still has capabilities (${name} ${value})`);
  }
  for (const [name, id] of Object.entries({ Uid: uid, Gid: gid })) {
    const ids = new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1]?.split(/\s+/);
    if (!ids?.every((each) => Number(each) === id)) throw new Error(`the agent did not become ${name} ${id}: ${ids}`);
  }
  // The kernel shows the secrets of a non-dumpable process as root's.
  if (statSync("/proc/self/environ").uid === uid) throw new Error("the agent can be read by the programs of its user");
}
