import { strict as assert } from "node:assert";
import type { Sandbox } from "../../sandbox.js";
import { rejects } from "../assertions.js";
import type { ConformanceCase, ConformanceContext } from "../conformance-case.js";
import { awkwardNames } from "../material.js";

const author = { name: "Grüße 漢", email: "a@example.com" };

/** A repository with one commit, below the case's own directory. */
async function repository({ shared, path }: Pick<ConformanceContext, "shared" | "path">, name: string) {
  const { git, files } = shared;
  const at = path(name);
  await git.init(at, { branch: "main" });
  await files.write(`${at}/first.txt`, "one\n");
  await git.add(at);
  const { commit } = await git.commit(at, { message: "first", author });
  return { at, commit };
}

/** A bare repository with one commit on `main`, and a clone of it. */
async function cloned(context: ConformanceContext) {
  const { shared, path } = context;
  const { at } = await repository(context, "made");
  const bare = `${shared.workdir}/${path("bare.git")}`;
  await shared.git.init(bare, { bare: true, branch: "main" });
  (await shared.exec(["git", "remote", "add", "origin", bare], { cwd: at })).orThrow();
  await shared.git.push(at, { allowLocal: true });
  const clone = await shared.git.clone(bare, { path: path("clone"), allowLocal: true });
  return { bare, made: at, clone: clone.path };
}

async function commitFile({ git, files }: Sandbox, at: string, name: string, text: string): Promise<string> {
  await files.write(`${at}/${name}`, text);
  await git.add(at);
  return (await git.commit(at, { message: `${name} is ${text}`, author })).commit;
}

/** Repositories in the files of the sandbox. */
export const gitCases: readonly ConformanceCase[] = [
  {
    id: "git.round-trip",
    title: "what is cloned, committed and pushed is pulled elsewhere",
    needs: ["git", "files"],
    async run(context) {
      const { git, files } = context.shared;
      const { bare, made, clone } = await cloned(context);
      assert.equal(await files.readText(`${clone}/first.txt`), "one\n");
      const commit = await commitFile(context.shared, clone, "second.txt", "two");
      assert.deepEqual([(await git.status(clone)).ahead, (await git.status(clone)).behind], [1, 0]);
      const pushed = await git.push(clone, { allowLocal: true });
      assert.deepEqual(pushed.refs, [{ ref: "refs/heads/main", result: "updated" }]);
      assert.deepEqual(await git.pull(made, { branch: "main", allowLocal: true }), { commit, updated: true });
      assert.equal(await files.readText(`${made}/second.txt`), "two");
      assert.deepEqual(await git.pull(made, { branch: "main", allowLocal: true }), { commit, updated: false });
      const shallow = await git.clone(bare, { path: context.path("shallow"), depth: 1, allowLocal: true });
      assert.equal((await git.log(shallow.path)).length, 1);
    },
  },
  {
    id: "git.status",
    title: "the status tells the branch and what has happened to each file, on both sides",
    needs: ["git", "files"],
    async run(context) {
      const { git, files } = context.shared;
      const fresh = await git.init(context.path("fresh"), { branch: "main" });
      assert.deepEqual(await git.status(fresh.path), {
        branch: "main",
        commit: null,
        upstream: null,
        ahead: null,
        behind: null,
        files: [],
        clean: true,
      });
      const { at, commit } = await repository(context, "repository");
      await commitFile(context.shared, at, "moved.txt", "a line that stays the same\n");
      await files.write(`${at}/first.txt`, "two\n");
      await git.add(at);
      await files.write(`${at}/first.txt`, "three\n");
      await files.move(`${at}/moved.txt`, `${at}/there.txt`);
      await git.add(at, { files: ["moved.txt", "there.txt"] });
      const status = await git.status(at);
      assert.deepEqual(status.files, [
        { path: "first.txt", index: "modified", worktree: "modified" },
        { path: "there.txt", index: "renamed", worktree: "unmodified", from: "moved.txt" },
      ]);
      assert.equal(status.clean, false);
      await git.checkout(at, commit, { force: true });
      assert.deepEqual([(await git.status(at)).branch, (await git.status(at)).commit], [null, commit]);
    },
  },
  {
    id: "git.file-names",
    title: "files of any name are listed, added one by one, committed and compared by exactly that name",
    needs: ["git", "files"],
    async run(context) {
      const { git, files } = context.shared;
      const { at } = await repository(context, "repository");
      const names = Object.values(awkwardNames).sort();
      for (const name of names) await files.write(`${at}/${name}`, name);
      const listed = (await git.status(at)).files.map(({ path }) => path);
      assert.deepEqual(listed.sort(), names);
      const [glob = "", dash = ""] = [awkwardNames.glob, awkwardNames.dash];
      await git.add(at, { files: [glob, dash] });
      const added = (await git.status(at)).files.filter(({ index }) => index === "added").map(({ path }) => path);
      assert.deepEqual(added.sort(), [glob, dash].sort());
      await git.add(at);
      await git.commit(at, { message: "names", author });
      assert.equal((await git.status(at)).clean, true);
      const { files: changed } = await git.diff(at, { from: "HEAD~1", to: "HEAD" });
      assert.deepEqual(changed.map(({ path }) => path).sort(), names);
      assert.ok(changed.every(({ change, additions }) => change === "added" && additions !== null));
      const [only] = await git.log(at, { files: [dash] });
      assert.equal(only?.message, "names");
    },
  },
  {
    id: "git.log",
    title: "the log gives commits with their parents, people, times and whole messages, newest first",
    needs: ["git", "files"],
    async run(context) {
      const { git } = context.shared;
      assert.deepEqual(await git.log((await git.init(context.path("fresh"))).path), []);
      const { at, commit: first } = await repository(context, "repository");
      const message = 'subject "quoted"\n\n# no comment\n  two   spaces\n漢字 🎈';
      const { commit } = await git.commit(at, { message, author, allowEmpty: true });
      const [newest, oldest, ...rest] = await git.log(at);
      assert.deepEqual([newest?.commit, oldest?.commit, rest.length], [commit, first, 0]);
      assert.deepEqual([newest?.message, newest?.parents, oldest?.parents], [message, [first], []]);
      assert.deepEqual([newest?.author.name, newest?.committer.email], [author.name, author.email]);
      assert.ok(Math.abs((newest?.author.date.getTime() ?? 0) - Date.now()) < 24 * 3_600_000);
      assert.equal((await git.log(at, { limit: 1 })).length, 1);
    },
  },
  {
    id: "git.diff",
    title: "a difference lists files with their lines, and has a patch that can be applied",
    needs: ["git", "files"],
    async run(context) {
      const { shared } = context;
      const { at } = await repository(context, "repository");
      await shared.files.write(`${at}/first.txt`, "one\ntwo\n");
      await shared.files.write(`${at}/binary`, Uint8Array.from([0, 1, 2, 255]));
      const worktree = await shared.git.diff(at);
      assert.deepEqual(worktree.files, [{ path: "first.txt", change: "modified", additions: 1, deletions: 0 }]);
      await shared.git.add(at);
      const staged = await shared.git.diff(at, { staged: true });
      assert.deepEqual(
        staged.files.map(({ path, change, additions }) => [path, change, additions]),
        [
          ["binary", "added", null],
          ["first.txt", "modified", 1],
        ],
      );
      assert.deepEqual((await shared.git.diff(at)).files, []);
      await shared.git.checkout(at, "main", { force: true });
      (await shared.exec(["git", "apply", "-"], { cwd: at, stdin: worktree.patch.bytes })).orThrow();
      assert.equal(await shared.files.readText(`${at}/first.txt`), "one\ntwo\n");
    },
  },
  {
    id: "git.branches",
    title: "branches are made, listed, checked out and removed, and removing one with commits of its own is refused",
    needs: ["git", "files"],
    async run(context) {
      const { shared } = context;
      const { git } = shared;
      const { clone } = await cloned(context);
      await git.createBranch(clone, "topic/one", { checkout: true });
      const commit = await commitFile(shared, clone, "topic.txt", "more");
      await git.createBranch(clone, "old", { from: "HEAD~1" });
      const found = (await git.branches(clone)).map(({ name, remote, current, upstream }) => [
        ...[name, remote, current, upstream],
      ]);
      assert.deepEqual(found, [
        ["main", false, false, "origin/main"],
        ["old", false, false, null],
        ["topic/one", false, true, null],
        ["origin/main", true, false, null],
      ]);
      await rejects(git.createBranch(clone, "old"), "CONFLICT", "old");
      await git.push(clone, { branch: "topic/one", setUpstream: true, allowLocal: true });
      assert.equal((await git.status(clone)).upstream, "origin/topic/one");
      await git.checkout(clone, "main");
      await commitFile(shared, clone, "mine.txt", "mine");
      await git.createBranch(clone, "lonely", { checkout: true });
      await commitFile(shared, clone, "lonely.txt", "lonely");
      await git.checkout(clone, "main");
      await rejects(git.deleteBranch(clone, "lonely"), "CONFLICT", "lonely");
      await git.deleteBranch(clone, "lonely", { force: true });
      await git.deleteBranch(clone, "topic/one", { force: true });
      await git.checkout(clone, "topic/one");
      assert.equal((await git.status(clone)).commit, commit);
    },
  },
  {
    id: "git.conflict",
    title: "what would lose work is CONFLICT, and says what to do",
    needs: ["git", "files"],
    async run(context) {
      const { shared } = context;
      const { git, files } = shared;
      const { made, clone } = await cloned(context);
      await commitFile(shared, made, "first.txt", "theirs\n");
      await git.push(made, { allowLocal: true });
      const mine = await commitFile(shared, clone, "first.txt", "mine\n");
      await rejects(git.push(clone, { allowLocal: true }), "CONFLICT", "refs/heads/main", "pull");
      await rejects(git.pull(clone, { allowLocal: true }), "CONFLICT", "strategy");
      assert.equal((await git.status(clone)).commit, mine);
      await rejects(git.pull(clone, { strategy: "merge", author, allowLocal: true }), "CONFLICT", "first.txt");
      const unmerged = { path: "first.txt", index: "unmerged", worktree: "unmerged" };
      assert.deepEqual((await git.status(clone)).files, [unmerged]);
      await files.write(`${clone}/first.txt`, "both\n");
      await git.add(clone);
      await git.commit(clone, { message: "merged", author });
      await git.push(clone, { allowLocal: true });
      await files.write(`${made}/first.txt`, "not committed\n");
      await rejects(git.checkout(made, "HEAD~1"), "CONFLICT", "first.txt");
      assert.equal(await files.readText(`${made}/first.txt`), "not committed\n");
    },
  },
  {
    id: "git.clone.leaves-nothing",
    title: "a clone that fails leaves nothing, and one onto something leaves that as it was",
    needs: ["git", "files"],
    async run(context) {
      const { shared, path } = context;
      await shared.files.write(path("there/kept.txt"), "kept");
      const { at } = await repository(context, "source");
      const onto = shared.git.clone(at, { path: path("there"), allowLocal: true });
      await rejects(onto, "CONFLICT", "there");
      assert.equal(await shared.files.readText(path("there/kept.txt")), "kept");
      await rejects(shared.git.clone(path("nowhere"), { path: path("new"), allowLocal: true }), "NOT_FOUND", "nowhere");
      const branch = shared.git.clone(at, { path: path("new"), branch: "no-such", allowLocal: true });
      await rejects(branch, "NOT_FOUND", "no-such");
      assert.equal(await shared.files.exists(path("new")), false);
    },
  },
  {
    id: "git.missing",
    title: "what is not there is told apart: the directory, the repository, the branch, the author, the changes",
    needs: ["git", "files"],
    async run(context) {
      const { shared, sandbox, path } = context;
      const { git } = shared;
      await rejects(git.status(path("nowhere")), "FILE_NOT_FOUND", "nowhere");
      const own = await sandbox();
      await rejects(own.git.status(), "NOT_FOUND", "not a git repository");
      const { at } = await repository(context, "repository");
      await rejects(git.checkout(at, "no-such"), "NOT_FOUND", "no-such");
      await rejects(git.log(at, { from: "no-such" }), "NOT_FOUND", "no-such");
      await rejects(git.add(at, { files: ["no-such"] }), "NOT_FOUND", "no-such");
      await rejects(git.fetch(at), "NOT_FOUND", "origin");
      await rejects(git.commit(at, { message: "nothing", author }), "COMMAND_FAILED", "allowEmpty");
      assert.ok((await rejects(git.checkout(at, "no-such"), "NOT_FOUND")).result, "the error has the result of git");
    },
  },
  {
    id: "git.injection",
    title: "nothing that git would read as an option or a program to start gets through, also not from a repository",
    needs: ["git", "files"],
    async run(context) {
      const { shared, path } = context;
      const { git } = shared;
      const marker = `${shared.workdir}/${path("injected")}`;
      const { at } = await repository(context, "repository");
      const urls = [
        `--upload-pack=touch ${marker}`,
        `-utouch ${marker}`,
        `ext::sh -c "touch ${marker}"`,
        "fd::0",
        `ssh://-oProxyCommand=touch ${marker}/x`,
        `-oProxyCommand=touch ${marker}:x`,
        "javascript://x/y",
        "https://name:secret@example.com/x.git",
        `file://${shared.workdir}/${at}`,
        at,
        "https://example.com/\nx.git",
        "",
      ];
      for (const url of urls) {
        const error = await rejects(git.clone(url, { path: path("cloned") }), "INVALID");
        assert.ok(!error.message.includes("secret"), "the message repeats the password");
      }
      for (const name of ["--upload-pack=x", "-f", "a..b", "main:other", "+main", "a b", "x.lock", ""].slice(0, -1)) {
        await rejects(git.createBranch(at, `${name}^`), "INVALID");
        if (name !== "+main") await rejects(git.push(at, { branch: name }), "INVALID");
      }
      await rejects(git.checkout(at, "--orphan=x"), "INVALID");
      await rejects(git.diff(at, { from: `--output=${marker}` }), "INVALID");
      await rejects(git.log(at, { from: `--output=${marker}` }), "INVALID");
      await rejects(git.fetch(at, { remote: `--upload-pack=touch ${marker}` }), "INVALID");
      const bad = ["remote", "add", "bad", `ext::sh -c "touch ${marker}"`];
      (await shared.exec(["git", ...bad], { cwd: at })).orThrow();
      (await shared.exec(["git", "config", "protocol.ext.allow", "always"], { cwd: at })).orThrow();
      await rejects(git.fetch(at, { remote: "bad" }), "INVALID", "ext");
      await rejects(git.push(at, { remote: "bad" }), "INVALID", "ext");
      assert.equal(await shared.files.exists(marker), false, "a program was started");
    },
  },
];
