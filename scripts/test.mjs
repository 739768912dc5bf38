// npm test [-- vitest arguments]: sets up what is missing, then runs every test.
import { canInstall, installMissing, isSetUpWanted } from "./debian-packages.mjs";
import { ensureEngine } from "./engine.mjs";
import { ensurePython, ensurePythonClient } from "./python.mjs";
import { runCommand, tool } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

const args = process.argv.slice(2);
await ensurePython();
// Without it the tests of what the operating system isolates by are skipped, each with its reason.
if (isSetUpWanted && (await canInstall())) await installMissing({ bwrap: "bubblewrap" });
try {
  // At the same time: npm waits for the network, and so do those who make images.
  const [engine, client] = await Promise.all([ensureEngine(args), ensurePythonClient(args), setUp()]);
  const tellSkipped = () => {
    for (const { skipped } of [engine, client]) if (skipped) process.stderr.write(`SKIPPED  ${skipped}\n`);
  };
  tellSkipped();
  const env = { ...engine.env, ...client.env };
  process.exitCode = (await runCommand(tool("vitest/vitest.mjs", "run", ...args), { show: true, env })).code;
  tellSkipped();
} catch (error) {
  process.stderr.write(`error  ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
