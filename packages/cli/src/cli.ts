import { main } from "./main.js";

// Whatever writes the answer: a reader who has gone is no defect, and a full disk is told in one line.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`sandkit: the output cannot be written: ${error.message}\n`);
  process.exitCode = error.code === "EPIPE" ? 141 : 3;
});
process.stderr.on("error", () => undefined);

const exitCode = await main(process.argv.slice(2));
// An input that stays open must not keep a finished program alive, and no output may be cut off.
if (process.stdout.writableLength > 0) await new Promise((resolve) => process.stdout.write("", resolve));
// A write that failed just now is told only after this turn.
await new Promise((resolve) => setImmediate(resolve));
process.exit(process.exitCode ?? exitCode);
