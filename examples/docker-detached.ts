import { attachSandbox, createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const image = process.env.IMAGE ?? "python:3.12-slim-bookworm";
const made = await createSandbox(docker({ leaseMs: 60_000 }), { image, lifetime: { detached: true } });
await made.files.write("note.txt", "for whoever comes next");
const ref = JSON.stringify(made.ref);

// Later, in another program that was given the ref:
const found = await attachSandbox(docker(), JSON.parse(ref));
try {
  console.log(await found.files.readText("note.txt"));
} finally {
  await found.destroy();
}
