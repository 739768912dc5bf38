import { attachSandbox, balance, createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { wasm } from "@sandkit/provider-wasm";

const provider = balance(
  { engine: docker({ host: "tcp://127.0.0.1:1" }), spare: wasm() },
  { failures: 1, onHealth: ({ backend, state }) => console.log(backend, state) },
);
const sandbox = await createSandbox(provider, { name: "job" });
console.log("made at", sandbox.ref.id.split(".")[0]);
console.log((await sandbox.runCode("6 * 7")).value);

const again = await createSandbox(provider, { name: "job" });
console.log("the same one:", again.ref.id === sandbox.ref.id);
console.log("found by its ref:", (await (await attachSandbox(provider, sandbox.ref)).info()).state);

try {
  for await (const { name } of provider.list()) console.log("listed:", name);
} catch (error) {
  console.log(`${error}`.slice(0, 52));
}
await sandbox.destroy();
await provider.close?.();
