import { readFile } from "node:fs/promises";
import type { Feature } from "../../capabilities.js";
import type { Resources } from "../../options.js";
import type { Sandbox } from "../../sandbox.js";
import type { Inside } from "../inside.js";
import type { Attack, Check, CheckContext } from "../probe.js";

const mib = 1024 * 1024;
/** What the attacked sandbox is given where its provider has a cap for it; and what is tried against it. */
const caps = { memoryMiB: 256, diskMiB: 32, pids: 64, cpus: 0.2 } as const;
const attempts = { memory: 384, disk: 64, file: 128, processes: 192, cpu: 25 } as const;
const flood = { mebibytes: 32, kept: 64 * 1024 } as const;
const features = {
  memoryMiB: "resources.memory",
  diskMiB: "resources.disk",
  pids: "resources.pids",
  cpus: "resources.cpu",
} as const satisfies Record<keyof Resources, Feature>;

/** What one sandbox can use up. */
export const limitsCheck: Check = {
  name: "limits",
  probes: {
    "limits.memory": {
      title: "takes no more memory than its cap",
      severity: "high",
      fix: "give it a cap (resources.memoryMiB) that the backend keeps",
      withinOwnKernel: true,
    },
    "limits.processes": {
      title: "starts no more processes than its cap",
      severity: "high",
      fix: "give it a cap (resources.pids) that the backend keeps",
      withinOwnKernel: true,
    },
    "limits.disk": {
      title: "writes no more than its cap, in all places together",
      severity: "high",
      fix: 'give it a cap (resources.diskMiB) that the backend keeps; Docker has none with "unsafeRoot"',
      withinOwnKernel: true,
    },
    "limits.file": {
      title: "makes no file larger than its disk",
      severity: "high",
      fix: "give it a cap (resources.diskMiB) that the backend keeps",
      withinOwnKernel: true,
    },
    "limits.output": {
      title: "does not flood the caller with output",
      severity: "high",
      fix: "hold a program up while nobody takes what it writes, and keep a bounded part",
    },
    "limits.cpu": {
      title: "takes no more of the processors than its cap, and no longer than its deadline",
      severity: "medium",
      fix: "give it a cap (resources.cpus) that the backend keeps",
      withinOwnKernel: true,
    },
  },
  async run(context) {
    const resources = capsOf(context);
    const inside = await context.sandbox({ resources });
    const has = (cap: keyof Resources) => cap in resources;
    const attacks = [
      await output(inside),
      await processor(inside, has("cpus")),
      await amount(inside, "disk", attempts.disk, has("diskMiB")),
      await amount(inside, "file", attempts.file, has("diskMiB")),
      await amount(inside, "memory", attempts.memory, has("memoryMiB")),
    ];
    const next = (await isLost(inside.sandbox)) ? await context.sandbox({ resources }) : inside;
    return [...attacks, await amount(next, "processes", attempts.processes, has("pids"))];
  },
};

/** Caps small enough to be attacked cheaply, where the provider has them. */
function capsOf({ target }: CheckContext): Resources {
  const declared = target.sandbox.capabilities.features;
  return Object.fromEntries(Object.entries(caps).filter(([name]) => declared[features[name as keyof Resources]]));
}

/** One attack that is to be stopped before it has so much. */
async function amount(
  inside: Inside,
  name: "memory" | "processes" | "disk" | "file",
  most: number,
  capped: boolean,
): Promise<Attack> {
  const id = `limits.${name}`;
  const words = capped ? "" : "there is no cap to ask for: ";
  try {
    const { attacks, result } = await inside.attack("limits", [name, String(most)]);
    const told = attacks.find((attack) => attack.id === id);
    if (told) return await judged({ ...told, saw: words + told.saw }, inside, capped);
    const last = result.stdout.text.trim().split("\n").at(-1) ?? "";
    const complaint = result.stderr.text.trim().split("\n").at(-1) ?? "";
    const how = [last, `ended: ${result.reason} ${result.signal ?? result.exitCode ?? ""}`.trim(), complaint];
    // A shell that cannot start one more process ends itself.
    const refused = name === "processes" && /fork/i.test(complaint);
    const ended = result.reason === "oom" || result.reason === "signaled" || refused;
    return { id, outcome: ended ? "held" : "untried", saw: words + how.filter(Boolean).join("; ") };
  } catch (error) {
    if (!(await isLost(inside.sandbox))) throw error;
    return {
      id,
      outcome: "held",
      saw: `${words}the sandbox was ended: ${error instanceof Error ? error.message : error}`,
    };
  }
}

/** Of another machine only its owner knows the caps, where none can be asked for. */
async function judged(attack: Attack, { sandbox }: Inside, capped: boolean): Promise<Attack> {
  const { isolation } = sandbox.capabilities;
  if (attack.outcome !== "got" || capped || isolation !== "container" || (await isOnThisMachine(sandbox)))
    return attack;
  return { ...attack, outcome: "untried", saw: `${attack.saw}; whether there is one above that is not known` };
}

async function isOnThisMachine({ files }: Sandbox): Promise<boolean> {
  const boot = "/proc/sys/kernel/random/boot_id";
  // Neither is there where there is no Linux.
  const [inside, here] = await Promise.all([
    files.readText(boot).catch(() => undefined),
    readFile(boot, "utf8").catch(() => undefined),
  ]);
  return inside === here;
}

async function isLost(sandbox: Sandbox): Promise<boolean> {
  try {
    return (await sandbox.info()).state === "gone";
  } catch (error) {
    if (error instanceof Error) return true;
    throw error;
  }
}

async function output(inside: Inside): Promise<Attack> {
  const { result } = await inside.attack("limits", ["output", String(flood.mebibytes)], { maxOutputBytes: flood.kept });
  const { bytes, totalBytes } = result.stdout;
  const saw = `${Math.round(totalBytes / mib)} MiB written, ${Math.round(bytes.length / 1024)} KiB of them kept`;
  return { id: "limits.output", outcome: bytes.length > 2 * flood.kept ? "got" : "held", saw };
}

/** Work without an end, under a deadline; and how much of the processors it has, where that is capped. */
async function processor(inside: Inside, capped: boolean): Promise<Attack> {
  const id = "limits.cpu";
  const { reason } = (await inside.attack("limits", ["endless", "0"], { timeoutMs: 300 })).result;
  const deadline = `an endless loop with a deadline of 300 ms: ${reason}`;
  if (reason !== "timeout") return { id, outcome: "got", saw: deadline };
  if (!capped) return { id, outcome: "held", saw: `${deadline}; there is no cap on its share to ask for` };
  const { attacks } = await inside.attack("limits", ["cpu", String(attempts.cpu)]);
  const told = attacks.find((attack) => attack.id === id);
  if (!told || told.outcome === "untried")
    return { id, outcome: "held", saw: `${deadline}; its share was not measured` };
  return { ...told, saw: `${told.saw}, with a cap of ${caps.cpus}; ${deadline}` };
}
