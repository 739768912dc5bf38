import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { wasm } from "@sandkit/provider-wasm";

const image = process.env.IMAGE ?? "python:3.12-slim-bookworm";
const provider = docker();
const sandbox = await createSandbox(provider, { image });
await sandbox.exec("mkdir data && seq 5 > data/numbers");
const snapshot = await sandbox.snapshot("five numbers");
await sandbox.exec("rm -r data");

const again = await createSandbox(provider, { snapshot: snapshot.id });
console.log("from the snapshot:", (await again.exec("paste -sd+ data/numbers")).stdout.text.trimEnd());

const forks = await again.fork(2);
await Promise.all(forks.map((fork, number) => fork.exec(`echo fork ${number} >> data/numbers`)));
for (const fork of forks) console.log("a fork:", (await fork.exec("tail -n 1 data/numbers")).stdout.text.trimEnd());

await again.pause();
console.log("the original:", (await again.info()).state);
await again.resume();

const elsewhere = await createSandbox(wasm());
await elsewhere.files.importTar(await again.files.exportTar());
console.log("in WebAssembly:", (await elsewhere.runCode("sum(map(int, open('data/numbers')))")).value);

await Promise.all([sandbox, again, ...forks, elsewhere].map((one) => one.destroy()));
console.log("removed:", await provider.removeSnapshot?.(snapshot.id));
