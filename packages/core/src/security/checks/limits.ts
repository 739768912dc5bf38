import { readFile } from "node:fs/promises";
import type { Feature } from "../../capabilities.js";
import type { Resources } from "../../options.js";
import type { Sandbox } from "../../sandbox.js";
import { endOf, type Inside } from "../inside.js";
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

/** One attack that is to be stopped before it has so much; made again when nothing came of it. */
async function amount(inside: Inside, name: Amount, most: number, capped: boolean): Promise<Attack> {
  const words = capped ? "" : "there is no cap to ask for: ";
  let attack = await take(inside, name, most);
  if (attack.outcome === "untried") attack = await take(inside, name, most);
  return judged({ ...attack, saw: words + attack.saw }, inside, capped);
}

type Amount = "memory" | "processes" | "disk" | "file";

async function take(inside: Inside, name: Amount, most: number): Promise<Attack> {
  const id = `limits.${name}`;
  try {
    const { said, result } = await inside.run("limits", [name, String(most)]);
    const told = said.attacks.find((attack) => attack.id === id);
    if (told) return told;
    const last = result.stdout.text.trim().split("\n").at(-1) ?? "";
    const complaint = result.stderr.text.trim().split("\n").at(-1) ?? "";
    const saw = [last, `ended: ${endOf(result)}`, complaint].filter(Boolean).join("; ");
    // A shell that cannot start one more process ends itself.
    const refused = name === "processes" && /fork/i.test(complaint);
    return { id, outcome: result.reason === "oom" || refused ? "held" : "untried", saw };
  } catch (error) {
    if (!(await isLost(inside.sandbox))) throw error;
    return { id, outcome: "held", saw: `the sandbox was ended: ${error instanceof Error ? error.message : error}` };
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
  const { result } = await inside.run("limits", ["output", String(flood.mebibytes)], { maxOutputBytes: flood.kept });
  const { bytes, totalBytes } = result.stdout;
  const saw = `${Math.round(totalBytes / mib)} MiB written, ${Math.round(bytes.length / 1024)} KiB of them kept`;
  const id = "limits.output";
  if (bytes.length > 2 * flood.kept) return { id, outcome: "got", saw };
  if (totalBytes >= flood.mebibytes * mib) return { id, outcome: "held", saw };
  return { id, outcome: "untried", saw: `${saw}; ended: ${endOf(result)}` };
}

/** Work without an end, under a deadline; and how much of the processors it has, where that is capped. */
async function processor(inside: Inside, capped: boolean): Promise<Attack> {
  const id = "limits.cpu";
  const { reason } = (await inside.run("limits", ["endless", "0"], { timeoutMs: 300 })).result;
  const deadline = `an endless loop with a deadline of 300 ms: ${reason}`;
  if (reason !== "timeout") return { id, outcome: "got", saw: deadline };
  if (!capped) return { id, outcome: "held", saw: `${deadline}; there is no cap on its share to ask for` };
  const { said, result } = await inside.run("limits", ["cpu", String(attempts.cpu)]);
  const told = said.attacks.find((attack) => attack.id === id);
  if (!told || told.outcome === "untried") {
    const why = told?.saw ?? endOf(result);
    return { id, outcome: "untried", saw: `${deadline}; its share was not measured: ${why}` };
  }
  return { ...told, saw: `${told.saw}, with a cap of ${caps.cpus}; ${deadline}` };
}
