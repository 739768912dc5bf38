import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Dockerode from "dockerode";
import { afterAll, beforeAll, describe } from "vitest";

/** Images by template, as `npm test` builds them. */
const images = {
  python: process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test",
  node: process.env.SANDKIT_TEST_IMAGE_NODE ?? "sandkit/node:test",
  typescript: process.env.SANDKIT_TEST_IMAGE_NODE ?? "sandkit/node:test",
  go: process.env.SANDKIT_TEST_IMAGE_GO ?? "sandkit/go:test",
  rust: process.env.SANDKIT_TEST_IMAGE_RUST ?? "sandkit/rust:test",
};

/** Tests in containers. `npm test` says when there is no engine, and in CI there always is one. */
export const describeOnEngine = describe.skipIf(process.env.SANDKIT_TEST_ENGINE !== "1");

/** A folder for the tests of a file, with a config that has these images. */
export function dockerFolder(): { readonly path: (name: string) => string; readonly config: () => string } {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sandkit-cli-docker-"));
    await writeFile(join(folder, "config.json"), JSON.stringify({ provider: "docker", options: { images } }));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return { path: (name) => join(folder, name), config: () => join(folder, "config.json") };
}

/** States of the containers that a process has made, whether they run or not. */
export async function containersOf(owner: number | undefined): Promise<string[]> {
  return (await madeBy(owner)).map(({ State }) => State);
}

/** What stops a container without its knowing. */
export async function pauseContainer(owner: number | undefined): Promise<void> {
  for (const { Id } of await madeBy(owner)) await engine.getContainer(Id).pause();
}

/** Ends the container of a sandbox as somebody at the engine does. */
export async function killContainer(id: string): Promise<void> {
  await engine.getContainer(`sandkit-${id}`).remove({ force: true });
}

const engine = new Dockerode();

async function madeBy(owner: number | undefined): Promise<Dockerode.ContainerInfo[]> {
  const all = await engine.listContainers({ all: true });
  return all.filter(({ Labels }) => Labels["sandkit.owner"]?.split(":")[1] === String(owner));
}
