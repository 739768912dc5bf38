import { createSandbox, type ErrorCode, type Git, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { local } from "../src/index.js";

const author = { name: "somebody", email: "somebody@example.com" };
let sandbox: Sandbox;
let git: Git;

beforeAll(async () => {
  sandbox = await createSandbox(local({ agent: "python" }));
  git = sandbox.git;
  await git.init("theirs", { branch: "main" });
  await sandbox.files.write("theirs/file.txt", "one\n");
  await git.add("theirs");
  await git.commit("theirs", { message: "first", author });
  await git.clone("theirs", { path: "mine", allowLocal: true });
  await git.createBranch("mine", "behind");
  await sandbox.files.write("mine/file.txt", "changed\n");
});
afterAll(() => sandbox.destroy());

/** What goes wrong in the words of git, each in its own. */
const failures: Readonly<Record<string, readonly [ErrorCode, string, () => Promise<unknown>]>> = {
  "a server that does not answer": ["UNAVAILABLE", "network", () => git.clone("http://127.0.0.1:1/x.git")],
  "the same by git's own protocol": ["UNAVAILABLE", "network", () => git.clone("git://127.0.0.1:1/x.git")],
  "a host that does not exist": ["UNAVAILABLE", "network", () => git.clone("https://no-such-host.invalid/x")],
  "a path without a repository": ["NOT_FOUND", "none.git", () => git.clone("none.git", { allowLocal: true })],
  "the same as a url": ["NOT_FOUND", "none.git", () => git.clone("file:///none.git", { allowLocal: true })],
  "a branch to clone": [
    "NOT_FOUND",
    "no-such",
    () => git.clone("theirs", { path: "x", branch: "no-such", allowLocal: true }),
  ],
  "a branch to fetch": ["NOT_FOUND", "no-such", () => git.fetch("mine", { branch: "no-such", allowLocal: true })],
  "a branch to push": ["NOT_FOUND", "no-such", () => git.push("mine", { branch: "no-such", allowLocal: true })],
  "a remote": ["NOT_FOUND", 'no remote "other"', () => git.push("mine", { remote: "other", allowLocal: true })],
  "a branch to remove": ["NOT_FOUND", "no-such", () => git.deleteBranch("mine", "no-such")],
  "a beginning of a branch": ["NOT_FOUND", "no-such", () => git.createBranch("mine", "x", { from: "no-such" })],
  "the same with a checkout": [
    "NOT_FOUND",
    "no-such",
    () => git.createBranch("mine", "x", { from: "no-such", checkout: true }),
  ],
  "a side of a difference": ["NOT_FOUND", "no-such", () => git.diff("mine", { from: "no-such" })],
  "a branch that is checked out": ["CONFLICT", "another first", () => git.deleteBranch("mine", "main")],
  "a rebase over changes": ["CONFLICT", "commit", () => git.pull("mine", { strategy: "rebase", allowLocal: true })],
  "a commit without an author": ["INVALID", "author", () => git.commit("mine", { message: "x", all: true })],
  "a local remote that is not permitted": ["INVALID", "allowLocal", () => git.fetch("mine")],
};

it.each(Object.entries(failures))("tells %s by its code, and what to do", async (_, [code, words, call]) => {
  const error = await call().catch((reason) => reason);
  expect(error).toMatchObject({ code, provider: "local", message: expect.stringContaining(words) });
});

it("says what is missing where no branch is checked out, or it follows none", async () => {
  await git.checkout("mine", "behind", { force: true });
  await expect(git.pull("mine", { allowLocal: true })).rejects.toMatchObject({ code: "INVALID" });
  await git.checkout("mine", "HEAD~0");
  await expect(git.push("mine", { allowLocal: true })).rejects.toMatchObject({ code: "INVALID" });
  await expect(git.pull("mine", { allowLocal: true })).rejects.toMatchObject({ code: "INVALID" });
  await git.checkout("mine", "main");
});

it("rebases with the author that is given, and names the files that both sides changed", async () => {
  await sandbox.files.write("mine/mine.txt", "mine\n");
  await git.add("mine");
  await git.commit("mine", { message: "mine", author });
  await sandbox.files.write("theirs/theirs.txt", "theirs\n");
  await git.add("theirs");
  await git.commit("theirs", { message: "theirs", author });
  await git.pull("mine", { strategy: "rebase", author, allowLocal: true });
  expect((await git.log("mine")).map(({ message }) => message)).toEqual(["mine", "theirs", "first"]);
  for (const [at, text] of Object.entries({ mine: "a\n", theirs: "b\n" })) {
    await sandbox.files.write(`${at}/file.txt`, text);
    await git.commit(at, { message: at, all: true, author });
  }
  const pulling = git.pull("mine", { strategy: "rebase", author, allowLocal: true });
  await expect(pulling).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("file.txt") });
  await expect(git.pull("mine", { branch: "main", strategy: "merge", author, allowLocal: true })).rejects.toMatchObject(
    {
      code: "CONFLICT",
    },
  );
});

it("pulls from the remote that the branch follows, and from another one only the branch that is named", async () => {
  const run = async (...args: readonly string[]) => (await sandbox.exec(["git", ...args], { cwd: "mine" })).orThrow();
  await git.clone("theirs", { path: "fork", allowLocal: true });
  await sandbox.files.write("fork/forked.txt", "");
  await git.add("fork");
  const { commit } = await git.commit("fork", { message: "forked", author });
  await run("checkout", "--quiet", "--force", "-B", "forked", "origin/main");
  await run("remote", "add", "fork", `${sandbox.workdir}/fork`);
  const refused = { code: "INVALID", message: expect.stringContaining('"fork"') };
  await expect(git.pull("mine", { remote: "fork", allowLocal: true })).rejects.toMatchObject(refused);
  expect(await git.pull("mine", { remote: "origin", allowLocal: true })).toMatchObject({
    commit: expect.not.stringMatching(commit),
  });
  await git.fetch("mine", { remote: "fork", allowLocal: true });
  await run("branch", "--quiet", "--set-upstream-to", "fork/main");
  // What the branch follows now, as it is there by now.
  const after = await git.commit("fork", { message: "later", allowEmpty: true, author });
  expect(await git.pull("mine", { allowLocal: true })).toEqual({ commit: after.commit, updated: true });
  await run("branch", "--quiet", "--set-upstream-to", "behind");
  expect(await git.pull("mine", { allowLocal: true })).toEqual({ commit: after.commit, updated: false });
  await git.checkout("mine", "main", { force: true });
});

it("asks for approval of what is run, and shows no credentials", async () => {
  const asked: string[] = [];
  const approve = (request: object) => {
    asked.push(JSON.stringify(request));
    return asked.length === 1;
  };
  const own = await createSandbox(local({ agent: "python" }), { approve });
  try {
    const credentials = { username: "somebody", password: "s3cret" };
    const cloning = () => own.git.clone("http://127.0.0.1:1/x.git", { credentials });
    await expect(cloning()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(cloning()).rejects.toMatchObject({ code: "DENIED" });
    expect(asked).toHaveLength(2);
    for (const request of asked) {
      expect(request).toContain("http://127.0.0.1:1/x.git");
      expect(request).not.toContain("s3cret");
    }
  } finally {
    await own.destroy();
  }
});

it("gives every file of a difference, and cuts its patch where it is asked to", async () => {
  await git.init("long");
  const names = Array.from({ length: 20 }, (_, index) => `long/${index}.txt`);
  await sandbox.files.writeAll(Object.fromEntries(names.map((name) => [name, `${name}\n`.repeat(100)])));
  await git.add("long");
  const { files, patch } = await git.diff("long", { staged: true, maxOutputBytes: 1000 });
  expect(files).toHaveLength(20);
  expect(patch).toMatchObject({ truncated: true, totalBytes: expect.any(Number) });
  expect(patch.text).toContain("bytes left out");
});

it("tells of a hook that says a lot, in lines that look like git's own, without taking long", async () => {
  await git.init("hooked");
  const hook = "#!/bin/sh\nyes 'error: ' | head -c 4000000 >&2\necho the last word >&2\nexit 1\n";
  await sandbox.files.write("hooked/.git/hooks/pre-commit", hook, { permissions: 0o755 });
  await sandbox.files.write("hooked/file.txt", "one\n");
  await git.add("hooked");
  await expect(git.commit("hooked", { message: "first", author })).rejects.toMatchObject({
    code: "COMMAND_FAILED",
    message: expect.stringContaining("the last word"),
  });
});
