// The same through Sandkit: the guest in a locked child process of its own. Argument: directory for compiled code.
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { measureCells } from "./measure-cells.mjs";

const sandbox = await createSandbox(wasm({ codeCache: process.argv[2] ?? false }));
await measureCells(async (code) => (await sandbox.runCode(code)).value);
await sandbox.destroy();
