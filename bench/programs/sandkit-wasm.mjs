// The same through Sandkit: the guest in a locked child process of its own.
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { measureCells } from "./measure-cells.mjs";

const sandbox = await createSandbox(wasm());
await measureCells(async (code) => (await sandbox.runCode(code)).value);
await sandbox.destroy();
