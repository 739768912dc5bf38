import { strict as assert } from "node:assert";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { awkwardNames, awkwardValues, splitNul } from "../material.js";

/** Environment and working directory travel as data and stay where they belong. */
export const environmentCases: readonly ConformanceCase[] = [
  {
    id: "exec.env.as-data",
    title: "values of environment variables arrive exactly, whatever they contain",
    needs: ["exec.argv"],
    programs: ["env"],
    reports: ["cloudflare/sandbox-sdk#144", "computesdk/computesdk#651"],
    async run({ shared, program }) {
      const env = Object.fromEntries(awkwardValues.map((value, index) => [`AWKWARD_${index}`, value]));
      const result = await shared.exec(program("env", ...Object.keys(env)), { env });
      const expected = awkwardValues.map((value) => `=${value}`);
      assert.deepEqual(splitNul(result.orThrow().stdout.bytes), expected);
    },
  },
  {
    id: "exec.env.empty",
    title: "an empty value is set and empty",
    needs: ["exec.argv"],
    programs: ["env"],
    async run({ shared, program }) {
      const result = await shared.exec(program("env", "EMPTY", "UNSET"), { env: { EMPTY: "" } });
      assert.deepEqual(splitNul(result.orThrow().stdout.bytes), ["=", ""]);
    },
  },
  {
    id: "exec.env.whole-command",
    title: "the environment holds for every part of a command string",
    needs: ["exec"],
    async run({ shared }) {
      const result = await shared.exec('printf "%s" "$PART" && printf "%s" "$PART" | cat', { env: { PART: "x" } });
      assert.equal(result.stdout.text, "xx");
    },
  },
  {
    id: "exec.env.apart",
    title: "the environment of one command does not reach the next",
    needs: ["exec.argv"],
    programs: ["env"],
    reports: ["cloudflare/sandbox-sdk#694"],
    async run({ shared, program }) {
      (await shared.exec(program("env", "ONCE"), { env: { ONCE: "1" } })).orThrow();
      assert.deepEqual(splitNul((await shared.exec(program("env", "ONCE"))).stdout.bytes), [""]);
    },
  },
  {
    id: "exec.env.over-sandbox",
    title: "the environment of the sandbox reaches every command, and the command's own wins",
    needs: ["exec.argv"],
    programs: ["env"],
    async run({ sandbox, program }) {
      const own = await sandbox({ env: { BASE: "from $sandbox", BOTH: "sandbox" } });
      const command = program("env", "BASE", "BOTH");
      assert.deepEqual(splitNul((await own.exec(command, { env: { BOTH: "exec" } })).stdout.bytes), [
        "=from $sandbox",
        "=exec",
      ]);
      assert.deepEqual(splitNul((await own.exec(command)).stdout.bytes), ["=from $sandbox", "=sandbox"]);
    },
  },
  {
    id: "exec.env.not-the-hosts",
    title: "the environment of the calling process is not seen in the sandbox",
    needs: ["exec.argv"],
    programs: ["env"],
    async run({ sandbox, program, unique }) {
      const name = unique("SANDKIT_CANARY").replaceAll("-", "_");
      process.env[name] = "secret of the host";
      try {
        const own = await sandbox();
        assert.deepEqual(splitNul((await own.exec(program("env", name))).stdout.bytes), [""]);
      } finally {
        delete process.env[name];
      }
    },
  },
  {
    id: "exec.env.off-the-command-line",
    title: "environment and input do not appear on any command line in the sandbox",
    needs: ["exec.argv", "exec.stdin"],
    programs: ["command-lines"],
    reports: ["TanStack/ai#1084", "railwayapp/railway-ts-sdk#26"],
    async run({ shared, program, unique }) {
      const secret = unique("secret");
      const result = await shared.exec(program("command-lines"), { env: { SECRET: secret }, stdin: secret });
      const seen = result.orThrow().stdout.text;
      assert.ok(seen.includes("command-lines"), "the program does not even see its own command line");
      assert.ok(!seen.includes(secret), "the secret is on a command line");
    },
  },
  {
    id: "exec.cwd.default",
    title: "a command starts in the working directory of the sandbox",
    needs: ["exec.argv"],
    programs: ["cwd"],
    async run({ shared, program }) {
      assert.equal((await shared.exec(program("cwd"))).orThrow().stdout.text, shared.workdir);
    },
  },
  {
    id: "exec.cwd.relative-and-absolute",
    title: "cwd is a path: absolute, or relative to the working directory",
    needs: ["exec.argv", "files"],
    programs: ["read"],
    reports: ["cloudflare/sandbox-sdk#16"],
    async run({ shared, program, path }) {
      await shared.files.write(path("below/marker"), "here");
      for (const cwd of [path("below"), `${shared.workdir}/${path("below")}`, `${path("below")}/../below/.`]) {
        assert.equal((await shared.exec(program("read", "marker"), { cwd })).stdout.text, "here", `cwd ${cwd}`);
      }
    },
  },
  {
    id: "exec.cwd.as-data",
    title: "a directory of any name can be the cwd",
    needs: ["exec.argv", "files"],
    programs: ["read"],
    async run({ shared, program, path }) {
      for (const kind of ["quotes", "newline", "unicode", "dash", "substitution"]) {
        const name = awkwardNames[kind] ?? "";
        await shared.files.write(path(`${name}/marker`), name);
        const result = await shared.exec(program("read", "marker"), { cwd: path(name) });
        assert.equal(result.orThrow().stdout.text, name);
      }
    },
  },
  {
    id: "exec.cwd.missing",
    title: "a cwd that does not exist is FILE_NOT_FOUND, and nothing runs",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ shared, program, path }) {
      const ran = `${shared.workdir}/${path("ran")}`;
      await rejects(shared.exec(program("write", ran, "yes"), { cwd: path("nowhere") }), "FILE_NOT_FOUND", "nowhere");
      assert.equal(await shared.files.exists(ran), false);
    },
  },
  {
    id: "exec.cwd.file",
    title: "a cwd that is a file is NOT_DIRECTORY, and nothing runs",
    needs: ["exec.argv", "files"],
    programs: ["write"],
    async run({ shared, program, path }) {
      const ran = `${shared.workdir}/${path("ran")}`;
      await shared.files.write(path("file"), "");
      await rejects(shared.exec(program("write", ran, "yes"), { cwd: path("file") }), "NOT_DIRECTORY", "file");
      assert.equal(await shared.files.exists(ran), false);
    },
  },
];
