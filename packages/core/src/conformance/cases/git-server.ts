import { strict as assert } from "node:assert";
import type { Sandbox } from "../../sandbox.js";
import { failure, rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { filesHolding, type GitServer, startGitServer } from "../git-server.js";

const author = { name: "somebody", email: "somebody@example.com" };
const needs = ["git", "files", "process.background"] as const;

interface Place {
  readonly own: Sandbox;
  /** A path of the case's own. */
  readonly at: (name: string) => string;
  readonly server: GitServer;
  readonly credentials: { readonly username: string; readonly password: string };
}

/** Runs while a git server in the sandbox serves a repository `box.git` with one commit. */
async function withServer(context: ConformanceContext, use: (place: Place) => Promise<void>, own = context.shared) {
  const at = (name: string) => context.path(name);
  await own.git.init(at("seed"), { branch: "main" });
  await own.files.write(at("seed/first.txt"), "one\n");
  await own.git.add(at("seed"));
  await own.git.commit(at("seed"), { message: "first", author });
  await own.git.init(at("served/box.git"), { branch: "main", bare: true });
  const served = `${own.workdir}/${at("served")}`;
  (await own.exec(["git", "push", "--quiet", `${served}/box.git`, "main"], { cwd: at("seed") })).orThrow();
  const server = await startGitServer(own, served, context.unique("s3cret"));
  const { username, password } = server;
  try {
    await use({ own, at, server, credentials: { username, password } });
  } finally {
    await server[Symbol.asyncDispose]();
  }
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
    title: "with credentials a private repository is cloned, pushed to, fetched and pulled, and git's progress is told",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, at, server, credentials }) => {
        const [url, one, other] = [`${server.url}/private/box.git`, at("one"), at("other")];
        const lines: string[] = [];
        await own.git.clone(url, { path: one, credentials, onProgress: (line) => lines.push(line) });
        assert.ok(lines.length > 0 && lines.every((line) => line !== "" && !line.includes("sandkit-credentials")));
        await own.git.clone(url, { path: other, credentials });
        const { commit } = await commitFile(own, one);
        const withServerNamed = { ...credentials, server: server.url };
        await own.git.push(one, { credentials: withServerNamed });
        await own.git.fetch(other, { credentials: withServerNamed });
        assert.equal((await own.git.status(other)).behind, 1);
        assert.equal((await own.git.pull(other, { credentials: withServerNamed })).commit, commit);
        await rejects(own.git.push(one, { credentials }), "INVALID", "credentials.server");
      });
    },
  },
  {
    id: "git.credentials.nowhere",
    title: "credentials are in no command line and no environment while git works, and in no file afterwards",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      const use = async ({ own, at, server, credentials }: Place) => {
        const [url, one] = [`${server.url}/private/box.git`, at("one")];
        // Helpers of the sandbox that would write down what they are told.
        for (const name of ["credential.helper", `credential.${server.url}.helper`]) {
          (await own.exec(["git", "config", "--global", name, "store"])).orThrow();
        }
        // Hooks, which would have the way to the credentials.
        const template = `${own.workdir}/${at("template")}`;
        for (const hook of ["post-checkout", "pre-push", "reference-transaction"]) {
          const text = `#!/bin/sh\necho ${hook} >> "${template}/ran"\n`;
          await own.files.write(`${template}/hooks/${hook}`, text, { permissions: 0o755 });
        }
        (await own.exec(["git", "config", "--global", "init.templateDir", template])).orThrow();
        await own.git.clone(url, { path: one, credentials });
        assert.equal(await own.files.exists(`${template}/ran`), false);
        await commitFile(own, one);
        assert.equal(await own.files.remove(`${template}/ran`), true);
        await own.git.push(one, { credentials: { ...credentials, server: server.url } });
        assert.equal(await own.files.exists(`${template}/ran`), false);
        const authorized = server.requests().filter((line) => line.includes(" authorized "));
        assert.ok(authorized.length >= 4, `requests: ${server.requests().join("; ")}`);
        for (const line of authorized) assert.ok(line.endsWith(" authorized nothing"), line);
        assert.deepEqual(await filesHolding(own, server.password, await placesOf(own)), []);
        const config = await own.files.readText(`${one}/.git/config`);
        assert.ok(config.includes(url) && !config.includes(server.username), config);
        // What is not hidden is found.
        const open = url.replace("://", `://${server.username}:${server.password}@`);
        (await own.exec(["git", "clone", "--quiet", open, at("open")])).orThrow();
        assert.match(server.requests().at(-1) ?? "", / authorized .*cmdline/);
        assert.ok((await filesHolding(own, server.password, await placesOf(own))).length > 0);
      };
      await withServer(context, use, await context.sandbox());
    },
  },
  {
    id: "git.credentials.only-when-asked",
    title: "a server that does not ask gets no credentials, nor does any but the one that they are for",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, at, server, credentials }) => {
        const openly = `${server.url}/open/box.git`;
        await own.git.clone(openly, { path: at("open"), credentials });
        await rejects(own.git.clone(`${server.url}/away/box.git`, { path: at("away"), credentials }), "AUTH");
        const elsewhere = { ...credentials, server: `http://127.0.0.1:${server.otherPort}` };
        const cloning = own.git.clone(`${server.url}/private/box.git`, { path: at("p"), credentials: elsewhere });
        await rejects(cloning, "AUTH");
        // A remote that programs of the sandbox have turned to another server.
        const turned = await own.git.clone(openly, { path: at("turned") });
        const address = `http://127.0.0.1:${server.otherPort}/private/box.git`;
        (await own.exec(["git", "remote", "set-url", "origin", address], { cwd: turned.path })).orThrow();
        const named = { ...credentials, server: server.url };
        await rejects(own.git.fetch(turned.path, { credentials: named }), "AUTH");
        await rejects(own.git.push(turned.path, { credentials: named }), "AUTH");
        const authorized = server.requests().filter((line) => line.includes(" authorized "));
        assert.deepEqual(authorized, []);
        assert.ok(server.requests().some((line) => line.startsWith(server.otherPort)));
        for (const left of ["away", "p"]) assert.equal(await own.files.exists(at(left)), false);
      });
    },
  },
  {
    id: "git.credentials.refused",
    title: "a login that is missing or wrong is AUTH, and a repository that the server does not have NOT_FOUND",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, at, server, credentials }) => {
        const [url, path] = [`${server.url}/private/box.git`, at("one")];
        await rejects(own.git.clone(url, { path }), "AUTH", "pass credentials");
        const wrong = { ...credentials, password: "wrong'\"$(id) 漢" };
        const error = await rejects(own.git.clone(url, { path, credentials: wrong }), "AUTH", "check the credentials");
        const told = `${error.message}${error.result?.stdout.text}${error.result?.stderr.text}`;
        assert.ok(!told.includes("wrong"), "the error repeats the password");
        await rejects(own.git.clone(`${server.url}/private/none.git`, { path, credentials }), "NOT_FOUND", "none.git");
        assert.equal(await own.files.exists(path), false);
      });
    },
  },
  {
    id: "git.deadline",
    title: "a clone that hangs is ended by its deadline or its signal, and leaves nothing",
    needs,
    traits: ["python3", "procfs"],
    async run(context) {
      await withServer(context, async ({ own, at, server, credentials }) => {
        const [url, path] = [`${server.url}/hang/box.git`, at("one")];
        await rejects(own.git.clone(url, { path, credentials, timeoutMs: 500 }), "TIMEOUT", "/hang/box.git");
        const [given, reason] = [new AbortController(), new Error("given up")];
        setTimeout(() => given.abort(reason), 500);
        assert.equal(await failure(own.git.clone(url, { path, credentials, signal: given.signal })), reason);
        assert.equal(await own.files.exists(path), false);
      });
    },
  },
];

async function commitFile({ git, files }: Sandbox, at: string) {
  await files.write(`${at}/second.txt`, "two\n");
  await git.add(at);
  return git.commit(at, { message: "second", author });
}
