import { main } from "./main.js";

const exitCode = await main(process.argv.slice(2));
// An input that stays open must not keep a finished program alive, and no output may be cut off.
if (process.stdout.writableLength > 0) await new Promise((resolve) => process.stdout.write("", resolve));
process.exit(exitCode);
