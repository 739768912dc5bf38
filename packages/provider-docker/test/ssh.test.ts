import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSshTarget, sshArguments } from "../src/engine/ssh-target.js";
import { docker } from "../src/index.js";
import { containersWith, testImages } from "./engine.js";
import { SshServer, sshIsThere } from "./ssh-server.js";

describe("an address over ssh", () => {
  const target = (text: string) => parseSshTarget("DOCKER_HOST", text);

  it("has a user, a port and the path of a socket where they are given", () => {
    expect(target("ssh://box")).toEqual({ host: "box" });
    expect(target("ssh://me@[::1]:2222/run/podman/podman.sock")).toEqual({
      host: "::1",
      user: "me",
      port: 2222,
      socket: "/run/podman/podman.sock",
    });
    expect(sshArguments(target("ssh://me@box:22")).join(" ")).toMatch(/-l me -p 22 -- box sh -c '.*dial-stdio; fi'$/);
  });

  it("cannot run a program of its own, here or there", () => {
    const paths = ["ssh://me:secret@box", "ssh://box/$(reboot)", "ssh://box/a%27b", "ssh://", "ssh://box?x"];
    for (const bad of [...paths, "ssh://$(reboot)", "ssh://`reboot`@box", "ssh://me%20;reboot@box"]) {
      expect(() => target(bad), bad).toThrow(/INVALID|must|password|path|letters/);
    }
    const hostile = sshArguments({ host: "-oProxyCommand=reboot", user: "-oProxyCommand=reboot" });
    expect(hostile.slice(-5, -1)).toEqual(["-l", "-oProxyCommand=reboot", "--", "-oProxyCommand=reboot"]);
  });
});

describe.skipIf(!sshIsThere)("an engine over ssh", () => {
  const usualPath = process.env.PATH;
  let server: SshServer;
  beforeAll(async () => {
    server = await SshServer.start();
    process.env.PATH = server.path;
  });
  afterAll(async () => {
    process.env.PATH = usualPath;
    await server?.stop();
  });
  const check = () => docker({ host: server.host }).check();
  const run = (program: URL, ...args: string[]) =>
    spawn(process.execPath, [fileURLToPath(program), testImages.python, ...args], {
      env: { ...process.env, DOCKER_HOST: server.host },
      stdio: ["ignore", "pipe", "inherit"],
    });

  it("that is not known, or does not know us, says so and what to do", async () => {
    const unknown = await check();
    expect(unknown).toMatchObject({
      ok: false,
      fix: [`connect by hand once and check the key: ssh -p ${server.port} root@127.0.0.1`],
    });
    expect(Object.values(unknown.facts ?? {})[0]).toContain(
      "its host key is unknown here (ssh: Host key verification failed.)",
    );
    await server.trust("stranger", true);
    const refused = await check();
    expect(refused.fix?.[0]).toContain("ssh-add");
    expect(Object.values(refused.facts ?? {})[0]).toContain("it lets nobody in with the keys of this user");
    await server.trust("user", true);
    const elsewhere = await docker({ host: `${server.host}/no/such.sock` }).check();
    expect(Object.values(elsewhere.facts ?? {})[0]).toMatch(/no engine runs on that machine/);
    expect(await check()).toMatchObject({ ok: true, detail: expect.stringContaining(server.host) });
  });

  it("runs sandboxes as one here does, and is let go of", { timeout: 60_000 }, async () => {
    await server.trust("user", true);
    const provider = docker({ host: server.host, images: testImages, pull: "never" });
    const sandbox = await createSandbox(provider);
    const big = await sandbox.exec("head -c 3000000 /dev/zero | tr '\\0' x; wc -c >&2", {
      stdin: "y".repeat(1_000_000),
      maxOutputBytes: 4_000_000,
    });
    expect([big.stdout.totalBytes, big.stderr.text.trim()]).toEqual([3_000_000, "1000000"]);
    expect((await sandbox.exec("sleep 100 & sleep 100", { timeoutMs: 300 })).reason).toBe("timeout");
    const running = sandbox.exec("sleep 100");
    const settled = expect(running).rejects.toMatchObject({ code: expect.stringMatching(/NOT_FOUND|SANDBOX_LOST/) });
    await sandbox.destroy();
    await settled;
    expect(await containersWith(`sandkit.id=${sandbox.ref.id}`)).toEqual([]);

    const visitor = run(new URL("visit.mjs", import.meta.url));
    const [said, [code]] = await Promise.all([text(visitor.stdout), once(visitor, "exit")]);
    expect({ said, code }).toEqual({ said: "visited\n", code: 0 });
  });

  it("loses a sandbox whose owner is killed", { timeout: 60_000 }, async () => {
    const mark = randomUUID();
    const owner = run(new URL("owner.mjs", import.meta.url), mark);
    for await (const line of createInterface({ input: owner.stdout })) if (line.startsWith("ready ")) break;
    expect(await containersWith(`sandkit.label.mark=${mark}`)).toHaveLength(1);
    owner.kill("SIGKILL");
    for (let round = 0; (await containersWith(`sandkit.label.mark=${mark}`)).length > 0; round++) {
      expect(round).toBeLessThan(100);
      await pause(50);
    }
  });
});
