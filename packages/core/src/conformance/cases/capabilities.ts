import { strict as assert } from "node:assert";
import { type Feature, features } from "../../capabilities.js";
import type { CreateOptions } from "../../options.js";
import type { KernelLanguage } from "../../provider.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";

const featureNames = Object.keys(features) as Feature[];

/** How an option that needs a feature is asked for at creation. */
const createOptionsFor: Readonly<Partial<Record<Feature, { readonly option: string; readonly ask: CreateOptions }>>> = {
  files: { option: "files", ask: { files: { "a.txt": "a" } } },
  ports: { option: "ports", ask: { ports: [8080] } },
  packages: { option: "packages", ask: { packages: ["left-pad"] } },
  snapshot: { option: "snapshot", ask: { snapshot: "some-snapshot" } },
  "network.full": { option: "network", ask: { network: "full" } },
  "network.allowlist": { option: "network", ask: { network: { allow: ["example.com"] } } },
  "network.none": { option: "network", ask: { network: "none" } },
  "resources.memory": { option: "resources.memoryMiB", ask: { resources: { memoryMiB: 256 } } },
  "resources.cpu": { option: "resources.cpus", ask: { resources: { cpus: 0.5 } } },
  "resources.disk": { option: "resources.diskMiB", ask: { resources: { diskMiB: 64 } } },
  "resources.pids": { option: "resources.pids", ask: { resources: { pids: 64 } } },
  "lifetime.ttl": { option: "lifetime.ttlMs", ask: { lifetime: { ttlMs: 60_000 } } },
  "lifetime.idle": { option: "lifetime.idleMs", ask: { lifetime: { idleMs: 60_000 } } },
  "lifetime.detached": { option: "lifetime.detached", ask: { lifetime: { detached: true } } },
};

type Ask = (context: ConformanceContext) => Promise<unknown>;

const cellIn = (language: KernelLanguage): Ask => {
  return ({ shared }) => shared.runCode("1", { language });
};

/** How a feature is asked for in a living sandbox. */
const callsFor: Readonly<Partial<Record<Feature, Ask>>> = {
  exec: ({ shared }) => shared.exec("exit 0"),
  "exec.argv": ({ shared }) => shared.exec(["python3", "--version"]),
  "exec.user": ({ shared }) => shared.exec(["python3", "--version"], { user: "nobody" }),
  "exec.pty": ({ shared }) => shared.spawn(["python3", "--version"], { pty: { columns: 80, rows: 24 } }),
  "exec.stdin": ({ shared }) => shared.exec(["python3"], { stdin: "" }),
  "process.background": ({ shared }) => shared.spawn(["python3", "--version"]),
  "kernel.python": cellIn("python"),
  "kernel.javascript": cellIn("javascript"),
  "kernel.bash": cellIn("bash"),
  ports: ({ shared }) => shared.port(8080),
  "lifetime.ttl": ({ shared }) => shared.extend(60_000),
  pause: ({ shared }) => shared.pause(),
  snapshot: async ({ shared, provider }) => {
    const { id } = await shared.snapshot();
    await provider.removeSnapshot?.(id);
  },
  fork: ({ shared }) => shared.fork(),
  git: ({ shared }) => shared.git.status(),
  attach: ({ shared, attach }) => attach(shared.ref),
  list: async ({ provider }) => {
    for await (const info of provider.list()) throw new Error(`it listed ${info.ref.id}`);
  },
};

/** Features without which a call cannot even be asked for. */
const needsOf: Readonly<Partial<Record<Feature, readonly Feature[]>>> = {
  "exec.stdin": ["exec.argv"],
  "exec.user": ["exec.argv"],
  "exec.pty": ["exec.argv", "process.background"],
};

/** Declared features are proven by the cases that need them; here: what is not declared is refused. */
export const capabilityCases: readonly ConformanceCase[] = [
  {
    id: "capabilities.complete",
    title: "every feature is declared as native, emulated or false",
    needs: [],
    async run({ provider, capabilities }) {
      for (const declared of [provider.capabilities, capabilities]) {
        assert.deepEqual(Object.keys(declared.features).sort(), Object.keys(features).sort());
        for (const [feature, support] of Object.entries(declared.features)) {
          assert.ok(["native", "emulated", false].includes(support), `${feature} is ${support}`);
        }
      }
    },
  },
  {
    id: "capabilities.upper-bound",
    title: "a sandbox has no feature that its provider does not declare",
    needs: [],
    async run({ provider, capabilities }) {
      const extra = Object.entries(capabilities.features).filter(
        ([feature, support]) => support && !provider.capabilities.features[feature as Feature],
      );
      assert.deepEqual(
        extra.map(([feature]) => feature),
        [],
      );
    },
  },
  {
    id: "capabilities.shell",
    title: "where command strings are declared, info names the shell sh",
    needs: ["exec"],
    async run({ shared }) {
      const { shells } = await shared.info();
      assert.ok(shells.includes("sh"), `shells: ${shells.join(", ")}`);
    },
  },
  ...featureNames.flatMap(undeclared),
];

/** The case that proves that a feature is refused where it is not declared. */
function undeclared(feature: Feature): ConformanceCase[] {
  const option = createOptionsFor[feature];
  const call = callsFor[feature];
  if (!option && !call) return [];
  const asked = option ? `the option ${option.option}` : "asking for it";
  return [
    {
      id: `capabilities.undeclared.${feature.replaceAll(".", "-")}`,
      title: `without ${feature}, ${asked} is UNSUPPORTED, and nothing is created`,
      needs: needsOf[feature] ?? [],
      without: [feature],
      reports: ["computesdk/computesdk#651", "superradcompany/microsandbox#494"],
      async run(context) {
        if (option) await rejects(context.sandbox(option.ask), "UNSUPPORTED", option.option);
        if (call) await rejects(call(context), "UNSUPPORTED");
        assert.equal(context.created(), 0, "a sandbox was created");
      },
    },
  ];
}
