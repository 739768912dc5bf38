import { randomUUID } from "node:crypto";
import { attachSandbox, createSandbox, type SandboxRef } from "@sandkit/core";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const provider = docker({ images: testImages, pull: "never" });

/** Python's image, with labels of its own. */
async function imageWith(labels: Readonly<Record<string, string>>, changes?: string): Promise<string> {
  const image = `sandkit/labelled:${randomUUID()}`;
  const [repo, tag] = image.split(":");
  const base = await engine.createContainer({ Image: testImages.python, Labels: labels });
  await base.commit({ repo, tag, ...(changes !== undefined && { changes }) });
  await base.remove();
  return image;
}

async function listed(): Promise<SandboxRef[]> {
  const found: SandboxRef[] = [];
  for await (const { ref } of provider.list()) found.push(ref);
  return found;
}

describeOnEngine("an image that says of its sandboxes what is not so", () => {
  it("gives them no network, name or label, hides none, and has no other image taken for its own", async () => {
    const { Id: other } = await engine.getImage(testImages.busybox).inspect();
    const image = await imageWith({
      "sandkit.egress": '{"allow":"public"}',
      "sandkit.name": "taken",
      "sandkit.label.team": "theirs",
      "sandkit.detached": "true",
      "sandkit.snapshot.id": "00000000-0000-4000-8000-000000000000",
      "sandkit.snapshot.base": other,
      "sandkit.snapshot.workdir": "/workspace",
    });
    const hidden = await imageWith({ "sandkit.spare": "true", "sandkit.installs": "nothing" });
    await using one = await createSandbox(provider, { image, lifetime: { detached: true } });
    await using two = await createSandbox(provider, { image: hidden, lifetime: { detached: true } });
    let snapshot: string | undefined;
    try {
      expect(await listed()).toEqual(expect.arrayContaining([one.ref, two.ref]));
      await attachSandbox(provider, two.ref);
      const attached = await attachSandbox(docker({ pull: "never" }), one.ref);
      expect(await attached.info()).toMatchObject({ network: "none", labels: {}, name: undefined });
      const reach = "import socket; socket.create_connection(('127.0.0.1', 3128))";
      expect((await attached.exec(["python3", "-c", reach])).stderr.text).toContain("Connection refused");
      await using _ = await createSandbox(provider, { name: "taken" });
      snapshot = (await one.snapshot()).id;
      const { Config } = await engine.getImage(`sandkit-snapshot:${snapshot}`).inspect();
      const { Id: own } = await engine.getImage(image).inspect();
      expect(Config.Labels?.["sandkit.snapshot.base"]).toBe(own);
    } finally {
      if (snapshot !== undefined) await provider.removeSnapshot?.(snapshot);
      await Promise.all([one.destroy(), two.destroy()]);
      for (const made of [image, hidden]) await engine.getImage(made).remove({ force: true });
    }
  });

  it("has nothing of its own run where packages are added to it", async () => {
    const image = await imageWith({}, "ONBUILD RUN touch /ran");
    try {
      await expect(createSandbox(provider, { image, packages: ["pip:any"] })).rejects.toMatchObject({
        code: "INVALID",
        message: expect.stringContaining("ONBUILD"),
      });
    } finally {
      await engine.getImage(image).remove({ force: true });
    }
  });

  it("keeps nobody from listing the others, nor does a container by another program", async () => {
    const owner = `somewhere-${randomUUID()}:1`;
    const said = { "sandkit.owner": owner, "sandkit.id": "x", "sandkit.workdir": "/", "sandkit.egress": "{" };
    const strangers = [
      await engine.createContainer({ Image: testImages.busybox, Labels: { ...said, "sandkit.own": "[" } }),
      await engine.createContainer({
        name: `sandkit-${randomUUID()}.nothing`,
        Image: testImages.busybox,
        Labels: { ...said, "sandkit.spare": "true", "sandkit.own": '["sandkit.spare","sandkit.owner"]' },
      }),
    ];
    try {
      expect(await listed()).not.toContainEqual(expect.objectContaining({ id: "x" }));
      await expect(attachSandbox(provider, { provider: "docker", id: "x" })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    } finally {
      for (const stranger of strangers) await stranger.remove({ force: true });
    }
  });
});
