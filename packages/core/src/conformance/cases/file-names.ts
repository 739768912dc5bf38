import { strict as assert } from "node:assert";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { awkwardNames } from "../material.js";

/** Whatever a file may be called: written, found, read, moved and removed. */
async function roundTrip({ shared, path }: ConformanceContext, name: string): Promise<void> {
  const { files, workdir } = shared;
  await files.write(path(`names/${name}`), name);
  const [entry, ...others] = await files.list(path("names"));
  assert.equal(entry?.path, `${workdir}/${path("names")}/${name}`);
  assert.equal(others.length, 0, "something else was made beside the file");
  assert.equal(await files.readText(entry.path), name);
  assert.equal((await files.stat(path(`names/${name}`))).type, "file");
  await files.move(path(`names/${name}`), path(`moved/${name}/${name}`));
  assert.equal(await files.readText(path(`moved/${name}/${name}`)), name);
  const found = await files.list(path("moved"), { recursive: true });
  assert.deepEqual(
    found.map(({ type }) => type),
    ["directory", "file"],
  );
  assert.equal(await files.remove(path(`moved/${name}`), { recursive: true }), true);
  assert.deepEqual(await files.list(path("moved")), []);
}

const reports: Readonly<Record<string, readonly string[]>> = {
  substitution: ["langchain-ai/deepagents#1483"],
  quotes: ["langchain-ai/deepagents#1483"],
  unicode: ["daytonaio/daytona#4323"],
};

/** Any name is a name. */
export const fileNameCases: readonly ConformanceCase[] = [
  ...Object.entries(awkwardNames).map(([kind, name]) => ({
    id: `files.name.${kind}`,
    title: `a file may be called ${JSON.stringify(name.length > 60 ? `${name.slice(0, 20)}…` : name)}`,
    needs: ["files" as const],
    reports: reports[kind],
    run: (context: ConformanceContext) => roundTrip(context, name),
  })),
  {
    id: "files.name.seen-by-programs",
    title: "programs find and make files of any name",
    needs: ["files", "exec.argv"],
    programs: ["read", "write"],
    async run({ shared, program, path }) {
      const names = Object.values(awkwardNames);
      await shared.files.writeAll(Object.fromEntries(names.map((name) => [path(`in/${name}`), name])));
      const read = await shared.exec(program("read", ...names), { cwd: path("in") });
      assert.equal(read.orThrow().stdout.text, names.join(""));
      await shared.files.mkdir(path("out"));
      (await shared.exec(program("write", ...names.flatMap((name) => [name, name])), { cwd: path("out") })).orThrow();
      const made = (await shared.files.list(path("out"))).map((entry) => entry.path);
      assert.deepEqual(made, names.map((name) => `${shared.workdir}/${path("out")}/${name}`).sort());
      for (const file of made) assert.ok(file.endsWith(`/${await shared.files.readText(file)}`), file);
    },
  },
];
