// What the provider does where the operating system has no wall for it: JSON on stdout.
import { createSandbox } from "@sandkit/core";
import { wasm } from "../dist/index.js";

const strict = wasm({ hardening: "required", codeCache: false });
const required = await createSandbox(strict, {}).catch(({ code, message }) => ({ code, message }));
const checked = await strict.check();
const usual = wasm({ codeCache: false });
const sandbox = await createSandbox(usual, {});
const { value } = await sandbox.runCode("1 + 1");
await sandbox.destroy();
console.log(JSON.stringify({ required, checked, auto: await usual.check(), value }));
