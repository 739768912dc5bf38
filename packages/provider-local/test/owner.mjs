// A program that owns a sandbox with running processes, tells where they are, and waits to be killed.
import { createSandbox } from "@sandkit/core";
import { local } from "@sandkit/provider-local";

const [marker] = process.argv.slice(2);
const sandbox = await createSandbox(local());
const busy = await sandbox.spawn(
  `trap "" TERM; (setsid env -i sh -c 'trap "" TERM HUP; while :; do : ${marker}; sleep 1; done' &) ; echo up; cat; sleep 60`,
);
for await (const _ of busy.stdout) break;
await sandbox.spawn(["sh", "-c", `exec yes ${marker}`]);
console.log(JSON.stringify({ id: sandbox.ref.id, workdir: sandbox.workdir }));
