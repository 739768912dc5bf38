import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnEngine, testImages } from "./engine.js";

const bin = fileURLToPath(new URL("../../cli/bin/sandkit.js", import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-docker-"));
  const options = { images: { python: testImages.python, node: testImages.node } };
  await writeFile(join(folder, "config.json"), JSON.stringify({ provider: "docker", options }));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** `sandkit run` as a user has it, with this on stdin. */
function run(args: readonly string[], stdin = "", env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const all = [bin, "run", "--config", join(folder, "config.json"), ...args];
    const child = execFile(process.execPath, all, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(stdin);
  });
}

describeOnEngine("sandkit run in a container", () => {
  it.each([
    ["Python", "python", "args.py", "import sys\nprint(sys.argv[1:], sys.stdin.read())", "['a', 'b c'] in\n"],
    [
      "Node",
      "node",
      "args.js",
      "process.stdin.on('data', (data) => console.log(process.argv.slice(2).join('|'), String(data), process.getuid() > 0))",
      "a|b c in true\n",
    ],
  ])("runs a file of %s with arguments and stdin", async (_, template, name, code, stdout) => {
    await writeFile(join(folder, name), code);
    const outcome = await run([join(folder, name), "--template", template, "--", "a", "b c"], "in");
    expect(outcome).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("runs a file of sh in an image with neither Python nor Node", async () => {
    await writeFile(join(folder, "args.sh"), 'echo "$@"; cat; exit 7');
    const outcome = await run([join(folder, "args.sh"), "--image", testImages.busybox, "--", "a"], "in\n");
    expect(outcome).toEqual({ code: 7, stdout: "a\nin\n", stderr: "" });
  });

  it("ends a program at its deadline", async () => {
    expect(await run(["--timeout", "1", "-e", "while True: pass"])).toMatchObject({ code: 124 });
  });
});

it("says where it looked for an engine, and what to do", async () => {
  const { code, stdout, stderr } = await run(["-e", "print(1)"], "", { DOCKER_HOST: "unix:///nowhere.sock" });
  expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
  expect(stderr).toMatch(
    /UNAVAILABLE: no container engine answers \(DOCKER_HOST at unix:\/\/\/nowhere\.sock.*start Docker/,
  );
});
