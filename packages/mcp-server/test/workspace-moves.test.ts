import { createSandbox, type Sandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { local } from "@sandkit/provider-local";
import { wasm } from "@sandkit/provider-wasm";
import { expect, it } from "vitest";

const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const containers = docker({ images: { python: image }, pull: "never" });
const { ok, detail } = await containers.check();
if (!ok && process.env.CI) throw new Error(`CI has no container engine: ${detail}`);
if (!ok) console.warn(`SKIPPED: no container engine, so no workspace moves from one: ${detail}`);

/** What is in the workdir, but for what a provider keeps there itself. */
async function listed({ files, workdir }: Sandbox) {
  const all = await files.list(".", { recursive: true });
  const records = all.map(({ path, type, mode, symlinkTarget }) => {
    return [path.slice(workdir.length), type, type === "file" && mode, symlinkTarget] as const;
  });
  return records.filter(([path]) => !path.startsWith("/."));
}

it.skipIf(!ok)("a workspace goes from a container to WebAssembly, to a folder, and back", async () => {
  const made = [await createSandbox(containers)];
  try {
    let [from] = made;
    await from?.exec("mkdir -p a/b && echo 'x = 1' > a/b/m.py && chmod 755 a/b/m.py && ln -s b a/l && mkdir empty");
    const before = from && (await listed(from));
    expect(before).toHaveLength(5);
    for (const next of [wasm(), local(), containers]) {
      const to = await createSandbox(next);
      made.push(to);
      if (from) await to.files.importTar(await from.files.exportTar());
      expect(await listed(to)).toEqual(before);
      from = to;
    }
    expect(await from?.files.readText("a/l/m.py")).toBe("x = 1\n");
  } finally {
    await Promise.all(made.map((sandbox) => sandbox.destroy()));
  }
});
