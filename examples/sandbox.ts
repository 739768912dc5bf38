import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";

const sandbox = await createSandbox(wasm(), {
  env: { GREETING: "hello" },
  files: { "data/names.txt": "Grace\nAda\n" },
});
try {
  // A string is a line for the shell; an array is one program, and its arguments arrive as they are.
  const line = await sandbox.exec('echo "$GREETING $(sort data/names.txt | head -n 1)"');
  console.log(line.exitCode, line.stdout.text.trimEnd());
  const shout = "import sys; print(sys.argv[1], sys.stdin.read().upper())";
  const program = await sandbox.exec(["python3", "-c", shout, "$GREETING"], { stdin: "input" });
  console.log(program.stdout.text.trimEnd());

  // How a command ended is a result, with what it wrote until then.
  const failed = await sandbox.exec("cat nowhere");
  console.log(failed.ok, failed.exitCode, failed.stderr.text.trimEnd());
  const slow = "import time; print('begun', flush=True); time.sleep(60)";
  const late = await sandbox.exec(["python3", "-c", slow], { timeoutMs: 1_000 });
  console.log(late.reason, late.exitCode, late.stdout.text.trimEnd());

  // A program that goes on, is written to, and answers.
  const counter = await sandbox.spawn(["python3", "-u", "-c", "for line in open(0): print(len(line.strip()))"]);
  await counter.write("four\nseven\n");
  await counter.closeStdin();
  for await (const { text } of counter.output) process.stdout.write(text);
  console.log((await counter.wait()).reason);

  // Cells keep their variables; an exception is a result too.
  await sandbox.runCode("total = 41");
  const cell = await sandbox.runCode("print('adding'); total + 1");
  console.log(cell.stdout.text.trimEnd(), cell.value);
  console.log((await sandbox.runCode("total / 0")).error?.name, (await sandbox.runCode("total")).value);
  console.log((await sandbox.runCode("[1, 2].map((n) => n * 2)", { language: "javascript" })).value);

  await sandbox.files.write("out/report.json", JSON.stringify({ total: 42 }));
  const found = await sandbox.files.list(".", { recursive: true });
  console.log(found.filter(({ type }) => type === "file").map(({ path, size }) => `${path} ${size}`));
} finally {
  await sandbox.destroy();
}
