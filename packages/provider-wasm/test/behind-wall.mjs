// What a program finds behind a wall of the operating system, with no other protection: facts as JSON on stdout.
//   node behind-wall.mjs PORT PID FILE ...   facts; PORT of a server and PID of a process outside, FILEs to be written
//   node behind-wall.mjs fill                takes memory until there is none, and says how many MiB it got
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * @param {() => unknown} attempt
 * @returns {unknown} What came of it, or the code of its error.
 */
function outcome(attempt) {
  try {
    return attempt();
  } catch (error) {
    return error.code;
  }
}

/** @param {number} port */
function connection(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve("connected")).on("error", (error) => resolve(error.code));
  });
}

if (process.argv[2] === "fill") {
  const kept = [];
  try {
    for (;;) kept.push(new ArrayBuffer(2 ** 24));
  } catch {
    console.log(kept.length * 16);
  }
  process.exit();
}

const [port = "", outside = "", ...files] = process.argv.slice(2);
const status = readFileSync("/proc/self/status", "utf8");
const facts = {
  interfaces: Object.keys(networkInterfaces()).filter((name) => name !== "lo"),
  connection: await connection(Number(port)),
  signal: outcome(() => process.kill(Number(outside), 0)),
  processes: readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length,
  passwd: outcome(() => readFileSync("/etc/passwd", "utf8").length > 0),
  written: files.map((path) => outcome(() => writeFileSync(path, "x"))),
  capabilities: /^CapEff:\s*(\w+)/m.exec(status)?.[1],
  bounding: /^CapBnd:\s*(\w+)/m.exec(status)?.[1],
  noNewPrivileges: /^NoNewPrivs:\s*(\w+)/m.exec(status)?.[1],
  limits: Object.fromEntries(
    Array.from(
      readFileSync("/proc/self/limits", "utf8").matchAll(/^Max (core file size|file size|data size)\s+(\w+)/gm),
      ([, name, soft]) => [name, soft],
    ),
  ),
};
console.log(JSON.stringify(facts));
