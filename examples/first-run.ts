import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";

const sandbox = await createSandbox(wasm());
try {
  await sandbox.runCode("squares = [n * n for n in range(10)]");
  const cell = await sandbox.runCode("sum(squares)");
  console.log(cell.value);

  const runaway = await sandbox.runCode("while True: pass", { timeoutMs: 500 });
  console.log(runaway.reason, runaway.stateLost);

  await sandbox.files.write("greet.py", "import sys; print('hello', sys.argv[1])");
  const result = await sandbox.exec(["python3", "greet.py", "world"]);
  console.log(result.exitCode, result.stdout.text.trimEnd());
} finally {
  await sandbox.destroy();
}
