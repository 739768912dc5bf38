import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { defineProvider, type Provider } from "@sandkit/core";
import { runSecurityChecks } from "@sandkit/core/security";
import Dockerode from "dockerode";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

type Weaken = (hostConfig: Dockerode.HostConfig) => Dockerode.HostConfig;

/** An engine whose containers are weaker than they were ordered. */
class WeakeningDockerode extends Dockerode {
  readonly #weaken: Weaken;

  constructor(weaken: Weaken) {
    super();
    this.#weaken = weaken;
  }

  override createContainer(options: Dockerode.ContainerCreateOptions): Promise<Dockerode.Container> {
    return super.createContainer({
      ...options,
      HostConfig: { ...options.HostConfig, ...this.#weaken(options.HostConfig ?? {}) },
    });
  }
}

const weakened = (weaken: Weaken) =>
  docker({ images: testImages, pull: "never", dockerode: new WeakeningDockerode(weaken) });

/** Ids of the attacks that had what they wanted. */
async function found(provider: Provider, only: Parameters<typeof runSecurityChecks>[0]["only"]): Promise<string[]> {
  const { ok, findings } = await runSecurityChecks({ provider, only });
  const failed = findings.filter(({ outcome }) => outcome === "failed");
  expect(ok).toBe(failed.length === 0);
  for (const { fix } of failed) expect(fix).toMatch(/\w/);
  return failed.map(({ id }) => id);
}

describeOnEngine("the security checks of a weakened container", { timeout: 120_000 }, () => {
  it("find the namespaces of the machine, its files and its engine, and a kernel without a filter", async () => {
    const provider = weakened(() => ({
      Init: false,
      PidMode: "host",
      NetworkMode: "host",
      SecurityOpt: ["seccomp=unconfined"],
      CapAdd: ["NET_RAW"],
      Binds: [`${tmpdir()}:/host${tmpdir()}`, "/var/run/docker.sock:/var/run/docker.sock"],
    }));
    expect(await found(provider, ["processes", "files", "network"])).toEqual(
      expect.arrayContaining([
        "processes.host",
        "processes.siblings",
        "processes.new-privileges",
        "processes.kernel",
        "files.host",
        "files.mounts",
        "network.host",
        "network.interfaces",
        "network.vsock",
        "network.abstract",
      ]),
    );
  });

  it("find caps that are not kept", async () => {
    const unbounded: Weaken = ({ Tmpfs = {} }) => ({
      Memory: 0,
      MemorySwap: 0,
      NanoCpus: 0,
      PidsLimit: 0,
      Tmpfs: Object.fromEntries(
        Object.entries(Tmpfs).map(([path, options]) => [path, options.replace(/size=\d+/, "size=1g")]),
      ),
    });
    expect(await found(weakened(unbounded), ["limits"])).toEqual(
      expect.arrayContaining(["limits.memory", "limits.processes", "limits.disk", "limits.file"]),
    );
  });

  it("know nothing of attacks that something in the box ends, and say so", async () => {
    const inner = docker({ images: testImages, pull: "never" });
    const hunt = readFileSync(new URL("guest/end_attacks.sh", import.meta.url), "utf8");
    const guarded = defineProvider({
      ...inner,
      create: async (options) => {
        const session = await inner.create(options);
        await session.spawn(["sh", "-c", hunt], { stdin: false });
        return session;
      },
    });
    const { ok, findings, counts } = await runSecurityChecks({ provider: guarded, only: ["network"] });
    expect({ ok, failed: counts.failed }).toEqual({ ok: false, failed: 0 });
    expect(counts.untried).toBeGreaterThan(0);
    const untried = findings.filter(({ outcome }) => outcome === "untried");
    for (const { evidence } of untried) expect(evidence).toMatch(/was ended: signaled SIGKILL/);
  });

  it("make the other attacks though a filter of system calls ends the program of one", async () => {
    const profile = {
      defaultAction: "SCMP_ACT_ALLOW",
      syscalls: [{ names: ["ptrace"], action: "SCMP_ACT_KILL_PROCESS" }],
    };
    const provider = weakened(() => ({ SecurityOpt: ["no-new-privileges", `seccomp=${JSON.stringify(profile)}`] }));
    const { ok, findings } = await runSecurityChecks({ provider, only: ["processes"] });
    const outcomes = Object.fromEntries(findings.map(({ id, outcome }) => [id, outcome]));
    expect(ok).toBe(false);
    expect(outcomes).toMatchObject({
      "processes.ptrace": "held",
      "processes.root": "held",
      "processes.kernel": "failed",
    });
    expect(findings.find(({ id }) => id === "processes.ptrace")?.evidence).toContain("SIGSYS");
  });

  it("do not say yes where a shell could not try all", async () => {
    const create = { image: testImages.busybox };
    const provider = docker({ images: testImages, pull: "never" });
    const { ok, counts, findings } = await runSecurityChecks({
      provider,
      create,
      only: ["files", "network"],
    });
    expect({ ok, failed: counts.failed }).toEqual({ ok: false, failed: 0 });
    const vsock = findings.find(({ id }) => id === "network.vsock");
    expect(vsock).toMatchObject({ outcome: "untried", evidence: expect.stringContaining("python3") });
  });

  it("take what a list of hosts gives for given, and hold the proxy to the rest", async () => {
    const provider = docker({ images: testImages, pull: "never" });
    const create = { network: { allow: ["example.com"] } };
    const { ok, counts, findings } = await runSecurityChecks({ provider, create, only: ["network"] });
    expect(findings.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect({ ok, untried: counts.untried }).toEqual({ ok: true, untried: 0 });
    const outside = findings.find(({ id }) => id === "network.outside");
    expect(outside?.evidence).toMatch(/http:\/\/1\.1\.1\.1\/: refused by the proxy: 403/);
  });

  it("find root", async () => {
    const provider = docker({ images: testImages, pull: "never", unsafeRoot: true });
    expect(await found(provider, ["processes"])).toEqual([
      "processes.agent",
      "processes.root",
      "processes.capabilities",
    ]);
  });

  it("find a bridge, and an end that is none", async () => {
    const inner: Provider = docker({ images: testImages, pull: "never", unsafeBridge: true });
    const ends: (() => Promise<void>)[] = [];
    const lying = defineProvider({
      ...inner,
      validate: (options) => inner.validate({ ...options, network: "full" }),
      create: async (options) => {
        const session = await inner.create({ ...options, network: "full" });
        ends.push(() => session.destroy());
        return new Proxy(session, {
          get: (target, name) => (name === "destroy" ? async () => undefined : Reflect.get(target, name)),
        });
      },
    });
    try {
      expect(await found(lying, ["network", "clean-up"])).toEqual(
        expect.arrayContaining(["network.host", "network.interfaces", "clean-up.destroy"]),
      );
    } finally {
      await Promise.all(ends.map((end) => end()));
    }
  });
});
