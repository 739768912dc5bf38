import { main } from "./main.js";

process.exitCode = await main(process.argv.slice(2));
// An input that stays open must not keep a finished program alive.
process.stdin.destroy();
