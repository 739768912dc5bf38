import { strict as assert } from "node:assert";
import { type Feature, features } from "../../capabilities.js";
import type { CreateOptions } from "../../options.js";
import type { KernelLanguage } from "../../provider.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";

const slug = (feature: Feature) => feature.replaceAll(".", "-");

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
  pause: ({ shared }) => shared.pause(),
  fork: ({ shared }) => shared.fork(),
  attach: ({ shared, attach }) => attach(shared.ref),
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
  ...Object.entries(createOptionsFor).map(([feature, { option, ask }]) => ({
    id: `capabilities.undeclared.${slug(feature as Feature)}`,
    title: `without ${feature}, the option ${option} is UNSUPPORTED, and nothing is created`,
    needs: [],
    without: [feature as Feature],
    reports: ["computesdk/computesdk#651", "superradcompany/microsandbox#494"],
    async run({ sandbox, created }: ConformanceContext) {
      await rejects(sandbox(ask), "UNSUPPORTED", option);
      assert.equal(created(), 0, "a sandbox was created");
    },
  })),
  ...Object.entries(callsFor).map(([feature, call]) => ({
    id: `capabilities.undeclared.${slug(feature as Feature)}`,
    title: `without ${feature}, asking for it is UNSUPPORTED`,
    needs: feature === "exec.stdin" || feature === "exec.user" ? (["exec.argv"] as const) : [],
    without: [feature as Feature],
    async run(context: ConformanceContext) {
      await rejects(call(context), "UNSUPPORTED");
    },
  })),
];
