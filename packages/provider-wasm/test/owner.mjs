// Makes a sandbox that is busy, or has been, tells its child's process id, and waits to be killed.
import { readFileSync } from "node:fs";
import { createSandbox } from "@sandkit/core";
import { wasm } from "../dist/index.js";

const sandbox = await createSandbox(wasm({ hardening: process.argv[2] }), {});
if (process.argv[3] === "idle") await sandbox.runCode("1");
else void sandbox.runCode("while True: pass");
// The first; one that compiles for later may be beside it.
console.log(readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ")[0]);
setInterval(() => undefined, 1000);
