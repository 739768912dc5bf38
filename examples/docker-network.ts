import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const image = process.env.IMAGE ?? "python:3.12-slim-bookworm";
const network = { allow: ["pypi.org", "files.pythonhosted.org"] };
const sandbox = await createSandbox(docker(), { image, network });
try {
  sandbox.onContact(({ host, port, decision }) => console.log(`${decision}: ${host}:${port}`));
  const asked = await sandbox.runCode("import urllib.request; urllib.request.urlopen('https://example.com/')");
  console.log(asked.error?.message);

  const server = await sandbox.spawn("python3 -m http.server 8000");
  const { url, headers = {} } = await sandbox.port(8000, { waitMs: 10_000 });
  console.log((await fetch(url, { headers })).status, (await fetch(url)).status);
  await server.kill();
} finally {
  await sandbox.destroy();
}
