import { messageOf } from "../../errors.js";
import type { Attack, Check, CheckContext } from "../probe.js";

/** Files that are not the sandbox's own. */
export const filesCheck: Check = {
  name: "files",
  probes: {
    "files.host": {
      title: "reads no file of this machine",
      severity: "critical",
      fix: "mount nothing of this machine into it (Docker: no Binds of more than the one folder that it needs)",
    },
    "files.siblings": {
      title: "reads no file of another sandbox",
      severity: "critical",
      fix: "give each sandbox a file system of its own",
    },
    "files.links": {
      title: "leads the file calls of the caller nowhere outside by links",
      severity: "critical",
      fix: "resolve paths inside the sandbox, never on this machine",
    },
    "files.engine": {
      title: "does not reach the socket of an engine",
      severity: "critical",
      fix: "never mount /var/run/docker.sock or its like: it is root on the engine's machine",
    },
    "files.devices": {
      title: "opens no device of the machine",
      severity: "critical",
      fix: "leave out devices, and CAP_MKNOD (Docker: no Privileged, no Devices)",
      withinOwnKernel: true,
    },
    "files.kernel": {
      title: "changes no setting of the kernel by /proc and /sys",
      severity: "critical",
      fix: "mask /proc and mount /sys read-only (Docker: no Privileged, the usual MaskedPaths and ReadonlyPaths)",
      withinOwnKernel: true,
    },
    "files.mounts": {
      title: "has no disk of the machine mounted, and mounts none",
      severity: "high",
      fix: "leave out mounts of this machine, and CAP_SYS_ADMIN",
      withinOwnKernel: true,
    },
  },
  async run(context) {
    const { target, bait, sibling } = context;
    const env = { ...bait.env(), SANDKIT_SIBLING_MARK: sibling.mark, SANDKIT_SIBLING_FILE: sibling.file };
    const attacks = await target.attack("files", Object.keys(this.probes), env);
    return [...attacks, await links(context)];
  },
};

/** The sandbox makes a link, and the caller reads what it leads to. */
async function links({ target: { sandbox }, bait }: CheckContext): Promise<Attack> {
  const id = "files.links";
  if (!sandbox.capabilities.features.exec) return { id, outcome: "untried", saw: "the sandbox has no shell" };
  const made = await sandbox.exec(["ln", "-sfn", bait.file, "sandkit-link"]);
  if (!made.ok) return { id, outcome: "untried", saw: `no link can be made: ${made.stderr.text.trim()}` };
  try {
    const text = await sandbox.files.readText("sandkit-link");
    const got = text.includes(bait.secret);
    return {
      id,
      outcome: got ? "got" : "held",
      saw: `files.read of a link to ${bait.file}: ${got ? "its content" : "another file"}`,
    };
  } catch (error) {
    return { id, outcome: "held", saw: `files.read of a link to ${bait.file}: ${messageOf(error)}` };
  } finally {
    await sandbox.files.remove("sandkit-link");
  }
}
