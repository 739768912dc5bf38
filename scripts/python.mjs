import { existsSync, renameSync, rmSync } from "node:fs";
import { canInstall, installMissing } from "./debian-packages.mjs";
import { root, runCommand } from "./run-command.mjs";

const client = "mcp==2.3.0";
const clientTest = "packages/mcp-server/test/python-client.test.ts";

/**
 * Makes sure that there is a `python3`: the tests run the conformance suite on plain processes of this machine, and
 * the supervisor of those is a Python program. Installs it where that needs no question: as root on Debian.
 */
export async function ensurePython() {
  if ((await runCommand(["python3", "--version"])).code === 0) return;
  if (await canInstall()) return installMissing({ python3: "python3" });
  process.stderr.write(
    "error  no python3 on this machine, and the tests run programs on it (provider-local)\n" +
      "fix    install Python 3.9 or newer (Debian: sudo apt-get install python3; macOS: xcode-select --install), then: npm test\n",
  );
  process.exit(1);
}

/**
 * Gives the test that is going to drive the server by the official Python client a folder that has it, as environment:
 * `SANDKIT_TEST_MCP_PYTHON`. Fetched from PyPI once, for this repository alone.
 * @param {readonly string[]} args The command line of vitest.
 * @returns {Promise<{ env: Record<string, string>, skipped?: string }>} `skipped`: why that test does not run.
 */
export async function ensurePythonClient(args) {
  const filters = args.filter((arg) => !arg.startsWith("-"));
  if (filters.length > 0 && !filters.some((text) => clientTest.includes(text))) return { env: {} };
  const folder = `${root}node_modules/.cache/sandkit/python-${client}`;
  const unfinished = `${folder}-${process.pid}`;
  if (!existsSync(folder)) {
    // The interpreter itself: before it there may be a version manager, which does things of its own after each pip.
    const { output: python } = await runCommand(["python3", "-c", "import sys; print(sys.executable)"]);
    const pip = [
      python.trim(),
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--root-user-action=ignore",
    ];
    const bounds = ["--no-compile", "--only-binary", ":all:", "--retries", "1", "--timeout", "15"];
    const { code, output } = await runCommand([...pip, ...bounds, "--target", unfinished, client]);
    if (code !== 0) {
      rmSync(unfinished, { recursive: true, force: true });
      const why = output.trim().split("\n").at(-1) ?? "";
      return { env: {}, skipped: `pip cannot install ${client} (${why}); the test by the Python client does not run` };
    }
    renameSync(unfinished, folder);
  }
  return { env: { SANDKIT_TEST_MCP_PYTHON: folder } };
}
