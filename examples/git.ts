import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const image = process.env.IMAGE ?? "python:3.12-bookworm";
const sandbox = await createSandbox(docker(), { image });
try {
  const { files, git } = sandbox;
  const author = { name: "Ada", email: "ada@example.com" };
  await git.init("app", { branch: "main" });
  await files.write("app/greet.py", "print('hello')\n");
  await git.add("app");
  await git.commit("app", { message: "Greet", author });

  await git.createBranch("app", "louder", { checkout: true });
  await files.write("app/greet.py", "print('HELLO')\n");
  await files.write("app/notes\nof today.txt", "");
  const { branch, files: changed } = await git.status("app");
  console.log(branch, changed);

  const { patch } = await git.diff("app");
  console.log(patch.text.split("\n").slice(-3).join("\n"));

  await git.commit("app", { message: "Louder", author, all: true });
  console.log((await git.log("app")).map(({ message }) => message));
} finally {
  await sandbox.destroy();
}
