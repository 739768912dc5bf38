// npm start: the tour. npm start -- ARGUMENTS: the sandkit command line. Both set up what is missing first.
import { root } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

await setUp({ types: false });
const args = process.argv.slice(2);
const program = args.length > 0 ? "packages/cli/bin/sandkit.js" : "examples/dist/tour.js";
// The program takes over this process: its signals, its stdin and its exit code are ours.
process.argv = [process.execPath, `${root}${program}`, ...args];
await import(`../${program}`);
