// npm test [-- vitest arguments]: sets up what is missing, then runs every test.
import { ensurePython } from "./python.mjs";
import { runCommand, tool } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

await ensurePython();
await setUp();
const vitest = tool("vitest/vitest.mjs", "run", ...process.argv.slice(2));
process.exitCode = (await runCommand(vitest, { show: true })).code;
