import { mkdtempSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { python, type StartedAgent, startAgent, stopAgent } from "./guest-client.js";

/** Puts links where directories were, and directories back, and fills them. */
const swapping = `
import os, shutil, sys
os.chdir(sys.argv[1])
while True:
    for name in "abcdefgh":
        try:
            os.makedirs("tree/" + name + "/deep", exist_ok=True)
            open("tree/" + name + "/deep/file", "w").close()
            os.rename("tree/" + name, "aside")
            os.symlink("../precious", "tree/" + name)
            os.unlink("tree/" + name)
            os.rename("aside", "tree/" + name)
        except OSError:
            shutil.rmtree("aside", ignore_errors=True)
`;

describe.each(["python", "node"] as const)("files that move under the agent in %s", (runtime) => {
  let agent: StartedAgent;
  let root: string;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "sandkit-guest-"));
    agent = await startAgent({ runtime });
    await agent.client.hello({ workdir: root });
  });
  afterEach(async () => {
    await stopAgent(agent);
    expect(agent.stderr()).toBe("");
    await rm(root, { recursive: true, force: true });
  });

  const list = (path: string) => agent.client.open({ op: "list", path, recursive: true, maxDepth: null, limit: null });

  it("are removed and listed in their tree alone, whatever is put in their place", { timeout: 60_000 }, async () => {
    const { client } = agent;
    await mkdir(join(root, "precious/deep"), { recursive: true });
    await writeFile(join(root, "precious/deep/file"), "");
    const programs = [1, 2].map(() => client.spawn([python, "-c", swapping, root]));
    const outcomes = new Set<unknown>();
    for (let round = 0; round < 60; round++) {
      const [removal, listing] = [
        client.ask({ op: "remove", path: join(root, "tree"), recursive: true }),
        list(root).all(),
      ];
      outcomes.add((await removal).error?.errno ?? "ok");
      await listing;
    }
    for (const program of programs) {
      await client.kill(program);
      await program.gone.promise;
    }
    expect(readdirSync(join(root, "precious/deep"))).toEqual(["file"]);
    expect([...outcomes].filter((outcome) => !["ok", "ENOTEMPTY", "EBUSY"].includes(String(outcome)))).toEqual([]);
    await client.ask({ op: "remove", path: join(root, "tree"), recursive: true });
    expect(readdirSync(root)).not.toContain("tree");
  });

  it("are removed at any depth, and listed as far as a path can name them", async () => {
    const { client } = agent;
    const deep = "import os,sys\nos.chdir(sys.argv[1])\nfor _ in range(40): os.mkdir('d' * 200); os.chdir('d' * 200)";
    for (let index = 0; index < 600; index++) await writeFile(join(root, `${index}${"a".repeat(200)}`), "");
    await client.spawn([python, "-c", deep, root]).gone.promise;
    const lines = (await list(root).text()).trim().split("\n");
    expect(lines.length).toBeGreaterThan(610);
    const last = JSON.parse(lines.at(-1) ?? "");
    expect(last.error).toMatchObject({ errno: "ENAMETOOLONG", path: expect.stringContaining("dd/dd") });
    const removed = await client.ask({ op: "remove", path: join(root, "d".repeat(200)), recursive: true });
    expect(removed.ok).toEqual({ removed: true });
  });
});
