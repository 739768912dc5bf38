import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const image = process.env.IMAGE ?? "python:3.12-slim-bookworm";
const provider = docker({ images: { python: image }, pool: { size: 2 } });
for (const name of ["Ada", "Grace"]) {
  const sandbox = await createSandbox(provider, { env: { NAME: name }, labels: { user: name } });
  const { stdout } = await sandbox.exec('echo "hello $NAME, you have $(ls | wc -l) files"; touch mine');
  console.log(stdout.text.trimEnd());
  await sandbox.destroy();
}
await provider.close?.();
