import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const { REPOSITORY = "https://github.com/acme/app.git", TOKEN = "", IMAGE = "python:3.12-bookworm" } = process.env;
const { host, origin } = new URL(REPOSITORY);
const credentials = { username: "x-access-token", password: TOKEN, server: origin };
const author = { name: "Ada", email: "ada@example.com" };

const sandbox = await createSandbox(docker(), { image: IMAGE, network: { allow: [host] } });
try {
  const { files, git } = sandbox;
  const { path } = await git.clone(REPOSITORY, { depth: 1, credentials });
  await git.createBranch(path, "greeting", { checkout: true });
  await files.write(`${path}/greeting.txt`, "hello\n");
  await git.add(path);
  await git.commit(path, { message: "A greeting", author });
  console.log((await git.push(path, { setUpstream: true, credentials })).refs);

  await git.push(path, { credentials: { ...credentials, password: "expired" } }).catch((error) => {
    console.log(error.code, error.message.split("\n").at(-1));
  });
} finally {
  await sandbox.destroy();
}
