import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { environment, sandkit } from "./sandkit.js";

const provider = "@sandkit/provider-local";
const ownerProgram = fileURLToPath(new URL("../../provider-local/test/owner.mjs", import.meta.url));

/** A program that made a sandbox and was killed before it could end it. */
async function deadOwner(): Promise<string> {
  const owner = spawn(process.execPath, [ownerProgram, "gc"], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(owner.stdout.setEncoding("utf8"), "data");
  owner.kill("SIGKILL");
  await once(owner, "exit");
  return JSON.parse(line).id;
}

describe("sandkit ls", () => {
  it("prints a table, or one document", async () => {
    const text = await sandkit(["ls", "--provider", provider]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toMatch(/^ID\s+NAME\s+TEMPLATE\s+STATE\s+AGE\s+ENDS IN\s+LABELS\n$/);
    const { stdout } = await sandkit(["ls", "--provider", provider, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ provider: "local", sandboxes: [] });
  });

  it("refuses a label without a value", async () => {
    expect(await sandkit(["ls", "--provider", provider, "--label", "task"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("sandkit gc", () => {
  it("removes what lost its owner, and says so first when asked to", async () => {
    const id = await deadOwner();
    const collect = (...more: string[]) => sandkit(["gc", "--provider", provider, "--older-than", "0.001", ...more]);
    expect((await collect("--dry-run")).stdout).toContain(id);
    expect((await collect()).stdout).toContain(id);
    expect((await collect()).stdout).not.toContain(id);
    expect((await collect("--dry-run")).stderr).toContain("0 sandboxes would be removed");
  });

  it("refuses an age that is none", async () => {
    const { code, stderr } = await sandkit(["gc", "--provider", provider, "--older-than", "soon"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--older-than");
  });
});
