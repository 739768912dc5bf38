import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineAddresses } from "../src/engine/discover.js";
import { docker } from "../src/index.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sandkit-discover-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const around = (env: Record<string, string> = {}, platform: NodeJS.Platform = "linux") => ({ env, home, platform });
const urls = async (...args: Parameters<typeof engineAddresses>) =>
  (await engineAddresses(...args)).map(({ url }) => url);

async function writeContext(name: string, host: string): Promise<void> {
  const hash = createHash("sha256").update(name).digest("hex");
  const directory = join(home, ".docker/contexts/meta", hash);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "meta.json"), JSON.stringify({ Endpoints: { docker: { Host: host } } }));
}

describe("engineAddresses", () => {
  it("takes what the caller says before everything else", async () => {
    const env = { DOCKER_HOST: "tcp://elsewhere:2375" };
    expect(await urls("unix:///own.sock", around(env))).toEqual(["unix:///own.sock"]);
  });

  it("takes DOCKER_HOST alone", async () => {
    const [address] = await engineAddresses(undefined, around({ DOCKER_HOST: "tcp://10.0.0.5:2375" }));
    expect(address?.connection).toMatchObject({ host: "10.0.0.5", port: 2375, protocol: "http" });
    const [secure] = await engineAddresses(undefined, around({ DOCKER_HOST: "tcp://10.0.0.5:2376" }));
    expect(secure?.connection).toMatchObject({ protocol: "https" });
  });

  it("follows DOCKER_CONTEXT and the current context of the config", async () => {
    await writeContext("colima", "unix:///colima.sock");
    await writeContext("desktop", "unix:///desktop.sock");
    expect(await urls(undefined, around({ DOCKER_CONTEXT: "colima" }))).toEqual(["unix:///colima.sock"]);
    await writeFile(join(home, ".docker/config.json"), JSON.stringify({ currentContext: "desktop" }));
    expect(await urls(undefined, around())).toEqual(["unix:///desktop.sock"]);
  });

  it("looks at the usual sockets otherwise, Docker's before Podman's", async () => {
    const found = await urls(undefined, around({ XDG_RUNTIME_DIR: "/run/user/1000" }));
    expect(found[0]).toBe(`unix://${home}/.docker/run/docker.sock`);
    expect(found[1]).toBe("unix:///var/run/docker.sock");
    expect(found).toContain(`unix://${home}/.colima/default/docker.sock`);
    expect(found).toContain("unix:///run/user/1000/podman/podman.sock");
    expect(await urls(undefined, { ...around(), user: 1000 })).toEqual(found);
    expect(await urls(undefined, around({}, "win32"))).toContain("unix:////./pipe/docker_engine");
  });

  it("names a context or an address that is none", async () => {
    await expect(engineAddresses(undefined, around({ DOCKER_CONTEXT: "gone" }))).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("gone"),
    });
    await expect(engineAddresses("ftp://x", around())).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("an engine that does not answer", () => {
  it("is UNAVAILABLE within seconds, with what was tried and what to do", async () => {
    const started = performance.now();
    const provider = docker({ host: `unix://${home}/no.sock` });
    await expect(provider.create({})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringMatching(/no\.sock: nothing is there.*DOCKER_HOST/),
    });
    // An address that swallows what is sent to it.
    await expect(docker({ host: "tcp://192.0.2.1:2375" }).create({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(performance.now() - started).toBeLessThan(6_000);
  });

  it.skipIf(process.getuid?.() !== 0)("that this user may not connect to names the group that may", async () => {
    const path = join(home, "closed.sock");
    const server = createServer().listen(path);
    await once(server, "listening");
    await chmod(home, 0o755);
    const provider = docker({ host: `unix://${path}` });
    const asOther = async (group: number, mode: number) => {
      await Promise.all([chown(path, 0, group), chmod(path, mode)]);
      process.seteuid?.(65_534);
      try {
        return await provider.check();
      } finally {
        process.seteuid?.(0);
      }
    };
    await docker({ host: `unix://${home}/no.sock` }).check();
    expect(Object.values((await asOther(0, 0o600)).facts ?? {})[0]).toContain("may not connect: it is root's alone");
    const closed = await asOther(1, 0o660);
    expect(Object.values(closed.facts ?? {})[0]).toContain("may not connect: members of group daemon may");
    expect(closed.fix).toEqual([expect.stringContaining("sudo usermod -aG daemon $USER")]);
    server.close();
  });

  it("shows in check, with a fix, and never throws", async () => {
    const result = await docker({ host: `unix://${home}/no.sock` }).check();
    expect(result).toMatchObject({ ok: false, fix: expect.any(Array) });
    expect(result.facts).toEqual({ 'option "host"': `unix://${home}/no.sock: nothing is there` });
  });
});

it("gives the last words of ssh once, without its name before them", async () => {
  const found = await docker({ host: "ssh://nobody@127.0.0.1:1" }).check?.();
  expect(JSON.stringify(found)).toContain("ssh: connect to host 127.0.0.1 port 1");
  expect(JSON.stringify(found)).not.toContain("ssh: ssh:");
});
