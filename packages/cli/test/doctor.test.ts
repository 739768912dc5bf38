import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { redact } from "../src/doctor/redact.js";
import { describeOnEngine } from "./engine.js";
import { sandkit, start } from "./sandkit.js";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "sandkit-doctor-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** No engine, no keys, whatever this machine has. */
const bare = { DOCKER_HOST: "unix:///nowhere.sock", E2B_API_KEY: "", DAYTONA_API_KEY: "" };

it("asks every provider, and says what was tried and what to do", async () => {
  const { code, stdout, stderr } = await start(["doctor"], bare).outcome;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^sandkit +\d+\.\d+\.\d+, Node \d+/);
  expect(stdout).toMatch(/^wasm +yes +Pyodide/m);
  expect(stdout).toMatch(
    /^docker +no +no container engine answers\n +DOCKER_HOST +unix:\/\/\/nowhere.sock: nothing is there\n(?: +fix +leave out DOCKER_HOST: .*\n)? +(?:fix|or) +start Docker/m,
  );
  // What to do is told once.
  expect(stdout).toMatch(/^e2b +no +no key of E2B\n +fix +.*E2B_API_KEY/m);
  expect(stdout).toMatch(/^daytona +no .*\n +fix +.*DAYTONA_API_KEY/m);
  expect(stdout).not.toContain(homedir());
});

describeOnEngine("where an engine answers", () => {
  it.skipIf(process.env.DOCKER_HOST)(
    "says that it would be found without the DOCKER_HOST that leads nowhere",
    async () => {
      const { code, stdout } = await start(["doctor", "docker"], bare).outcome;
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /^ +fix +leave out DOCKER_HOST: without it the one at unix:\S+ is found\n +or +start Docker/m,
      );
    },
  );
});

it("answers no for a provider that is asked for and cannot be used, as data too", async () => {
  const { code, stdout } = await start(["doctor", "wasm", "--provider", "docker", "--json"], bare).outcome;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    default: "wasm",
    providers: [
      { provider: "wasm", ok: true, fix: [] },
      { provider: "docker", ok: false, fix: expect.arrayContaining([expect.stringContaining("start Docker")]) },
    ],
  });
});

it("takes the config, tells of a provider that is not installed", async () => {
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ provider: "sandkit-provider-of-nobody" }));
  const missing = await sandkit(["doctor", "--config", config]);
  expect(missing.code).toBe(1);
  expect(missing.stdout).toMatch(/^sandkit-provider-of-nobody +no .*not installed/m);
  expect(missing.stdout).toMatch(/fix +npm install .*sandkit-provider-of-nobody/);

  // Nobody is told to install what only looks like one of ours.
  expect(await sandkit(["doctor", "dokcer"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("--provider docker"),
  });
  await writeFile(config, '{ "nonsense": 1 }');
  expect(await sandkit(["doctor", "--config", config])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown key "nonsense"'),
  });
});

it("keeps keys and the home folder to itself", () => {
  const env = { E2B_API_KEY: "e2b_0123456789abcdef", GITHUB_TOKEN: "ghp_abcdefgh", EDITOR: "a-long-editor" };
  const told = `${homedir()}/x e2b_0123456789abcdef ghp_abcdefgh a-long-editor`;
  expect(redact(told, env)).toBe("~/x … … a-long-editor");
});
