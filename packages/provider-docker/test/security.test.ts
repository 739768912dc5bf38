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
