import { strict as assert } from "node:assert";
import type { Sandbox } from "../../sandbox.js";
import { failure, rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { filesHolding, type GitServer, startGitServer } from "../git-server.js";

const author = { name: "somebody", email: "somebody@example.com" };
const needs = ["git", "files", "process.background"] as const;

interface Place {
  readonly own: Sandbox;
  readonly server: GitServer;
  readonly credentials: { readonly username: string; readonly password: string };
}

/** Runs with a sandbox of its own in which a git server has a repository `box.git` with one commit. */
async function withServer({ sandbox, unique }: ConformanceContext, use: (place: Place) => Promise<void>) {
  const own = await sandbox();
  const seed = await own.git.init("seed", { branch: "main" });
  await own.files.write("seed/first.txt", "one\n");
  await own.git.add("seed");
  await own.git.commit("seed", { message: "first", author });
  await own.git.clone("seed", { path: "served/box.git", allowLocal: true });
  const bare = `${own.workdir}/served/box.git`;
  for (const setting of ["core.bare=true", "receive.denyCurrentBranch=ignore", "http.receivepack=true"]) {
    const [name = "", value = ""] = setting.split("=");
    (await own.exec(["git", "config", name, value], { cwd: bare })).orThrow();
  }
  const server = await startGitServer(own, `${own.workdir}/served`, unique("s3cret"));
  const { username, password } = server;
  try {
    await use({ own, server, credentials: { username, password } });
  } finally {
    await server[Symbol.asyncDispose]();
  }
  assert.equal(seed.path, `${own.workdir}/seed`);
}

/** Where programs keep things. */
async function placesOf(own: Sandbox): Promise<string[]> {
  const home = await own.exec(["python3", "-c", "import os; print(os.path.expanduser('~'), end='')"]);
  return [own.workdir, home.orThrow().stdout.text];
}

/** A server that asks who is there. It runs in the sandbox, so that no network is needed. */
export const gitServerCases: readonly ConformanceCase[] = [
  {
    id: "git.credentials",
    title: "with credentials a private repository is cloned, pushed to, fetched and pulled",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        const url = `${server.url}/private/box.git`;
        const { path } = await own.git.clone(url, { credentials });
        assert.equal(path, `${own.workdir}/box`);
        await own.git.clone(url, { path: "other", credentials });
        await own.files.write("box/second.txt", "two\n");
        await own.git.add("box");
        const { commit } = await own.git.commit("box", { message: "second", author });
        const withServerNamed = { ...credentials, server: server.url };
        await own.git.push("box", { credentials: withServerNamed });
        await own.git.fetch("other", { credentials: withServerNamed });
        assert.equal((await own.git.status("other")).behind, 1);
        assert.equal((await own.git.pull("other", { credentials: withServerNamed })).commit, commit);
        await rejects(own.git.push("box", { credentials }), "INVALID", "credentials.server");
      });
    },
  },
  {
    id: "git.credentials.nowhere",
    title: "credentials are in no command line and no environment while git works, and in no file afterwards",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        // Helpers of the sandbox that would write down what they are told.
        for (const name of ["credential.helper", `credential.${server.url}.helper`]) {
          (await own.exec(["git", "config", "--global", name, "store"])).orThrow();
        }
        await own.git.clone(`${server.url}/private/box.git`, { credentials });
        await own.files.write("box/second.txt", "two\n");
        await own.git.add("box");
        await own.git.commit("box", { message: "second", author });
        await own.git.push("box", { credentials: { ...credentials, server: server.url } });
        const authorized = server.requests().filter((line) => line.includes(" authorized "));
        assert.ok(authorized.length >= 4, `requests: ${server.requests().join("; ")}`);
        for (const line of authorized) assert.ok(line.endsWith(" authorized nothing"), line);
        assert.deepEqual(await filesHolding(own, server.password, await placesOf(own)), []);
        const config = await own.files.readText("box/.git/config");
        assert.ok(config.includes(`${server.url}/private/box.git`) && !config.includes(server.username), config);
      });
    },
  },
  {
    id: "git.credentials.only-when-asked",
    title: "a server that does not ask gets no credentials, nor does any but the one that they are for",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        await own.git.clone(`${server.url}/open/box.git`, { path: "open", credentials });
        await rejects(own.git.clone(`${server.url}/away/box.git`, { path: "away", credentials }), "AUTH");
        const elsewhere = { ...credentials, server: `http://127.0.0.1:${server.otherPort}` };
        await rejects(own.git.clone(`${server.url}/private/box.git`, { path: "p", credentials: elsewhere }), "AUTH");
        // A remote that programs of the sandbox have turned to another server.
        await own.git.clone(`${server.url}/open/box.git`, { path: "turned" });
        const turned = `http://127.0.0.1:${server.otherPort}/private/box.git`;
        (await own.exec(["git", "remote", "set-url", "origin", turned], { cwd: "turned" })).orThrow();
        const named = { ...credentials, server: server.url };
        await rejects(own.git.fetch("turned", { credentials: named }), "AUTH");
        await rejects(own.git.push("turned", { credentials: named }), "AUTH");
        assert.deepEqual(
          server.requests().filter((line) => line.includes(" authorized ")),
          [],
        );
        assert.ok(server.requests().some((line) => line.startsWith(server.otherPort)));
        for (const left of ["away", "p"]) assert.equal(await own.files.exists(left), false);
      });
    },
  },
  {
    id: "git.credentials.refused",
    title: "a login that is missing or wrong is AUTH, and a repository that the server does not have NOT_FOUND",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        const url = `${server.url}/private/box.git`;
        await rejects(own.git.clone(url), "AUTH", "pass credentials");
        const wrong = { ...credentials, password: "wrong'\"$(id) 漢" };
        const error = await rejects(own.git.clone(url, { credentials: wrong }), "AUTH", "check the credentials");
        assert.ok(!JSON.stringify(error.result).includes("wrong"), "the error repeats the password");
        await rejects(own.git.clone(`${server.url}/private/none.git`, { credentials }), "NOT_FOUND", "none.git");
        assert.equal(await own.files.exists("box"), false);
      });
    },
  },
  {
    id: "git.deadline",
    title: "a clone that hangs is ended by its deadline or its signal, and leaves nothing",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        const url = `${server.url}/hang/box.git`;
        await rejects(own.git.clone(url, { credentials, timeoutMs: 500 }), "TIMEOUT", "/hang/box.git");
        const reason = new Error("given up");
        const cloning = own.git.clone(url, { credentials, signal: AbortSignal.any([abortSoon(reason)]) });
        assert.equal(await failure(cloning), reason);
        assert.equal(await own.files.exists("box"), false);
      });
    },
  },
  {
    id: "git.progress",
    title: "what git says while it works is told line by line, without what is ours",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, server, credentials }) => {
        const lines: string[] = [];
        const onProgress = (line: string) => lines.push(line);
        await own.git.clone(`${server.url}/private/box.git`, { credentials, onProgress });
        assert.ok(lines.length > 0);
        assert.deepEqual(
          lines.filter((line) => line.includes("sandkit-credentials") || line.trim() === ""),
          [],
        );
      });
    },
  },
];

function abortSoon(reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 500);
  return controller.signal;
}
