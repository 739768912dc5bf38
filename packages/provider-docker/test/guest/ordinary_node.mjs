// What ordinary programs do with the kernel; prints `fine` when all of it works.
import { strict as assert } from "node:assert";
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, watch, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { Worker } from "node:worker_threads";

if (process.argv[2] === "child") {
  process.send?.("forked");
} else {
  assert.equal(execFileSync("sh", ["-c", "echo hi"]).toString(), "hi\n");
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(2)', { eval: true });
  assert.equal((await once(worker, "message"))[0], 2);
  const child = fork(process.argv[1], ["child"]);
  assert.equal((await once(child, "message"))[0], "forked");
  const folder = mkdtempSync("/tmp/watched-");
  const seen = once(watch(folder), "change");
  writeFileSync(`${folder}/file`, "x");
  await seen;
  const server = createServer((socket) => socket.end("tcp")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const [data] = await once(connect(server.address().port, "127.0.0.1"), "data");
  assert.equal(String(data), "tcp");
  process.stdout.write("fine\n");
  process.exit(0);
}
