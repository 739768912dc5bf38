import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveGit } from "./git-http-backend.js";

const execute = promisify(execFile);
const folder = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${folder}../docs/git.md`, "utf8");
const programs = [
  ...page.matchAll(/`examples\/([\w-]+)\.ts`[\s\S]*?```ts\n([\s\S]*?)```\n```text\n([\s\S]*?)```/g),
].map(([, name = "", code = "", output = ""]) => ({ name, code, output }));
// Set by `npm test` where an engine is; the image is one that it has built.
const image = process.env.SANDKIT_TEST_IMAGE_GIT ?? "sandkit/git:test";

let root: string;
let server: Awaited<ReturnType<typeof serveGit>>;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "sandkit-git-"));
  const git = (...args: string[]) => execute("git", ["-c", "user.name=x", "-c", "user.email=x@localhost", ...args]);
  await git("init", "--quiet", "--initial-branch=main", `${root}/seed`);
  await git("-C", `${root}/seed`, "commit", "--quiet", "--allow-empty", "--message=first");
  await git("clone", "--quiet", "--bare", `${root}/seed`, `${root}/app.git`);
  server = await serveGit(root, "x-access-token:a-token");
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

/** An address of this machine that a sandbox does not take for its own. */
function hostAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

it("shows the programs as they stand in examples/", () => {
  expect(programs.map(({ name }) => name)).toEqual(["git", "git-clone"]);
  for (const { name, code } of programs) expect(code).toBe(readFileSync(`${folder}${name}.ts`, "utf8"));
});

it.skipIf(process.env.SANDKIT_TEST_ENGINE !== "1").each(programs)(
  "$name prints what the page says",
  async ({ name, output }) => {
    const repository = { REPOSITORY: `http://${hostAddress()}:${server.port}/app.git`, TOKEN: "a-token" };
    const env = { ...process.env, ...repository, IMAGE: image };
    const { stdout } = await execute(process.execPath, [`${folder}dist/${name}.js`], { env });
    expect(stdout).toBe(output);
  },
  60_000,
);

it.skipIf(process.env.SANDKIT_TEST_ENGINE !== "1")("has what the second program pushed", async () => {
  const { stdout } = await execute("git", ["-C", `${root}/app.git`, "log", "--format=%s", "greeting"]);
  expect(stdout).toBe("A greeting\nfirst\n");
});
