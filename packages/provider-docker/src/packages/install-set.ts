import { randomUUID } from "node:crypto";
import type { Contact } from "@sandkit/core";
import { ownerLabel, packageError, shownAddress } from "@sandkit/core/kit";
import { firstCommand } from "../agent-program.js";
import { dockerCapabilities } from "../capabilities.js";
import { labelsOf, type SandboxRecord } from "../labels.js";
import { planSandbox, type SandboxPlan } from "../plan-sandbox.js";
import { startInBox } from "../run-in-box.js";
import { startSandbox } from "../start-sandbox.js";
import type { Workspace } from "../workspace.js";
import { buildSet } from "./build-set.js";
import type { Indexes } from "./indexes.js";
import { about, type Installation, silenceSeconds } from "./installation.js";
import { installNode, installPython } from "./installers.js";
import type { PackageSet } from "./package-set.js";
import { places } from "./places.js";

const defaultMemoryMiB = 4096;
const defaultTimeoutMs = 4 * 60_000;
const mebibyte = 1024 * 1024;

/** Name of the container that installs a set: that the engine gives a name once makes the others wait. */
export function installerName({ key }: PackageSet): string {
  return `sandkit-packages-${key}`;
}

/**
 * Installs a set in a container of its own, locked in like a sandbox, and builds its image of what that has made.
 * Failed or aborted, it leaves nothing.
 * @throws SandboxError `CONFLICT` when somebody else is installing it; what `packageError` says; `TIMEOUT`
 */
export async function installSet(work: Installation): Promise<void> {
  const { set, options } = work;
  const timeoutMs = options.packages?.timeoutMs ?? defaultTimeoutMs;
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([work.signal, limit]);
  try {
    await install({ ...work, signal });
  } catch (error) {
    if (!limit.aborted || work.signal.aborted || error !== limit.reason) throw error;
    const said = `it took more than ${timeoutMs / 1000} s ("packages.timeoutMs" of docker())`;
    throw packageError({ reason: "time", ...indexIn(work.indexes), said }, set.names, "docker", about);
  }
}

async function install(work: Installation): Promise<void> {
  const { engine, base, set, options, signal, onProgress, agents } = work;
  const plan = installationPlan(work);
  const record: SandboxRecord = {
    id: randomUUID(),
    owner: await ownerLabel(),
    createdAt: new Date(),
    workdir: plan.workspace.workdir,
    detached: false,
    installs: set.key,
    egress: plan.egress,
    labels: {},
  };
  // By now whoever asked for the set listens.
  onProgress(`installing ${set.names.join(", ")} over ${base.reference} (once on this engine)`);
  const first = await firstCommand(base, plan, false, agents.of(base.origin));
  const own = { labels: labelsOf(record), sandboxId: record.id, detached: false };
  const order = { engine, name: installerName(set), plan, image: base, ...own, ...first };
  const capabilities = dockerCapabilities(options, plan.runtime, base.first);
  const session = await startSandbox(order, { record, capabilities, plan, words: {} }, signal, agents);
  const failed: Contact[] = [];
  session.onContact?.((contact) => {
    if (contact.reason !== undefined) failed.push(contact);
  });
  try {
    const python = set.asked.python.length > 0 ? await installPython(session, work, failed) : undefined;
    if (set.asked.node.length > 0) await installNode(session, work, failed);
    const folders = [...(python ? ["python"] : []), ...(set.asked.node.length > 0 ? ["node"] : [])];
    const mostBytes = plan.workspace.mounts[places.root] ?? 0;
    const pack = await startInBox(session, ["tar", "-cf", "-", "-C", places.root, ...folders], { env: {} });
    const parts = { set, base: base.id, archive: pack.stdout, packed: pack.ended, python, mostBytes, signal };
    const lock = await buildSet(engine, parts);
    onProgress(`installed ${lock.join(", ") || "nothing that the image did not have"}`);
  } finally {
    await session.destroy();
  }
}

/** A sandbox's plan, with the network of package indexes, and room in the place of a workspace. */
function installationPlan({ base, options, indexes, runtime }: Installation): SandboxPlan {
  const plan = planSandbox(
    { image: base.reference, network: "packages", env: environment(indexes), native: { runtime } },
    { ...options, unsafeRoot: false },
  );
  return {
    ...plan,
    workspace: roomFor(options.packages?.memoryMiB ?? defaultMemoryMiB),
  };
}

/** Half of the memory for what is installed, three eighths for what that takes: the rest is for programs. */
function roomFor(memoryMiB: number): Workspace {
  const eighth = Math.floor(memoryMiB / 8) * mebibyte;
  const mounts = { "/tmp": 3 * eighth, [places.root]: 4 * eighth };
  return { workdir: places.root, memoryMiB, diskMiB: (memoryMiB * 7) / 8, mounts, sharedMemoryBytes: 16 * mebibyte };
}

/** By variables: older installers ignore those that they do not know. */
function environment(indexes: Indexes): Record<string, string> {
  return {
    PYTHONUSERBASE: places.python,
    PIP_NO_INPUT: "1",
    npm_config_fetch_retries: "1",
    npm_config_fetch_timeout: String(silenceSeconds * 1000),
    // An index on this machine is not one of the box's own.
    NO_PROXY: "",
    no_proxy: "",
    ...indexes,
  };
}

function indexIn({ PIP_INDEX_URL: index }: Indexes) {
  return index === undefined ? {} : { index: shownAddress(index) };
}
