import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";

const image = process.env.IMAGE ?? "python:3.12-slim-bookworm";
const sandbox = await createSandbox(docker(), { image });
try {
  await sandbox.files.write("numbers.txt", "3\n4\n5\n");
  const sum = await sandbox.exec("sort -r numbers.txt | head -n 2 | paste -sd+");
  console.log(sum.stdout.text.trimEnd());

  await sandbox.runCode("squares = [n * n for n in range(10)]");
  console.log((await sandbox.runCode("sum(squares)")).value);

  const denied = await sandbox.exec("touch /etc/mine");
  console.log(denied.exitCode, denied.stderr.text.trimEnd());

  const runaway = await sandbox.exec("setsid sleep 600 & sleep 600", { timeoutMs: 500 });
  console.log(runaway.reason);
} finally {
  await sandbox.destroy();
}
