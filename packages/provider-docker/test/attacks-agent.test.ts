import { readFileSync } from "node:fs";
import { attachSandbox, createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const guest = (name: string) => readFileSync(new URL(`guest/${name}`, import.meta.url), "utf8");

describeOnEngine("a program beside the agent", () => {
  it("cannot limit, slow down or pin it, but itself", async () => {
    await using one = await createSandbox(docker({ images: testImages, pull: "never" }));
    const { stdout } = await one.exec(["python3", "-c", guest("outrank_agent.py")], { timeoutMs: 20_000 });
    const { own, agent } = JSON.parse(stdout.text);
    expect(new Set(Object.values(own))).toEqual(new Set(["ok"]));
    expect(new Set(Object.values(agent))).toEqual(new Set(["EPERM"]));
    expect((await one.exec("echo fine", { timeoutMs: 20_000 })).stdout.text).toBe("fine\n");
  });

  it("has the same user as the agent in JavaScript, and reads nothing of it", async () => {
    await using one = await createSandbox(docker({ images: testImages, pull: "never" }), { template: "node" });
    await one.exec("ln -s nowhere link; touch file");
    const listed = await one.files.list(one.workdir);
    expect(listed.map(({ type }) => type)).toEqual(["file", "symlink"]);
    const look = 'cat "/proc/$PPID/environ" "/proc/1/environ"; ls "/proc/$PPID/fd" "/proc/1/fd"; id -u >&2';
    const { stdout, stderr } = await one.exec(look, { timeoutMs: 20_000 });
    expect(stdout.text).toBe("");
    expect(stderr.text.match(/Permission denied/g)).toHaveLength(4);
    expect(stderr.text).toMatch(/^[2-5]\d{4}$/m);
  });

  it("is not what a client of a detached sandbox speaks to, though the image finds programs where it can write", async () => {
    const image = "sandkit/python-in-app:test";
    const base = await engine.createContainer({ Image: testImages.python });
    const changes = "ENV PATH=/app/bin:/usr/local/bin:/usr/bin:/bin LD_LIBRARY_PATH=/app/lib";
    await base.commit({ repo: "sandkit/python-in-app", tag: "test", changes });
    await base.remove();
    try {
      const provider = docker({ pull: "never" });
      await using one = await createSandbox(provider, { image, lifetime: { detached: true } });
      const plant =
        'mkdir /app/bin; printf "#!/bin/sh\\nid -u >/tmp/ran" >/app/bin/python3; chmod +x /app/bin/python3; python3';
      await one.exec(plant);
      expect(await one.files.readText("/tmp/ran")).toMatch(/^[1-9]/);
      await one.files.remove("/tmp/ran");
      const other = await attachSandbox(docker({ pull: "never" }), one.ref);
      expect((await other.exec("cat /tmp/ran; echo fine")).stdout.text).toBe("fine\n");
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });
});

describeOnEngine("an image with a hostile Node", () => {
  it("stays root where the agent would not, with the capabilities to become a user and no others", async () => {
    const image = "sandkit/hostile-node:test";
    const plant = `mv /usr/bin/node /usr/bin/node.real; printf %s "$0" >/usr/bin/node; chmod 755 /usr/bin/node`;
    const base = await engine.createContainer({
      Image: testImages.node,
      Cmd: ["sh", "-c", plant, guest("hostile_node.sh")],
    });
    try {
      await base.start();
      await base.wait();
      await base.commit({ repo: "sandkit/hostile-node", tag: "test" });
      await expect(createSandbox(docker({ pull: "never" }), { image })).rejects.toThrow(
        /uid 0, CapEff 0+c0, CapBnd 0+c0, NoNewPrivs 1, Seccomp 2, got:\./,
      );
    } finally {
      await base.remove();
      await engine.getImage(image).remove({ force: true });
    }
  });
});
