import {
  DaytonaGitBranchExistsError,
  DaytonaGitPushRejectedError,
  DaytonaGitRepoNotFoundError,
  type Sandbox,
} from "@daytonaio/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloud, startCloud } from "./cloud.js";

let cloud: Cloud;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await startCloud();
  sandbox = await cloud.daytona.create();
  await sandbox.git.init("origin.git", true, "main");
});
afterAll(() => cloud[Symbol.asyncDispose]());

describe("git", () => {
  it("clones, changes, commits, pushes and pulls between two clones", async () => {
    const { git, fs } = sandbox;
    await git.clone("origin.git", "first");
    await fs.uploadFile(Buffer.from("one\n"), "first/a file.txt");
    await fs.uploadFile(Buffer.from("new\n"), "first/new");
    await git.add("first", ["a file.txt"]);
    expect(await git.status("first")).toMatchObject({
      currentBranch: "main",
      fileStatus: [
        { name: "a file.txt", staging: "Added", worktree: "Unmodified" },
        { name: "new", staging: "Untracked", worktree: "Untracked" },
      ],
    });
    const { sha } = await git.commit("first", 'First: it\'s "quoted"', "A B", "a@b.c");
    expect(sha).toMatch(/^[0-9a-f]{40}$/);
    await git.push("first", undefined, undefined, "main", undefined, true);
    expect(await git.status("first")).toMatchObject({ branchPublished: true, ahead: 0, upstream: "origin/main" });

    await git.clone("origin.git", "second", "main");
    expect((await fs.downloadFile("second/a file.txt")).toString()).toBe("one\n");
    await fs.uploadFile(Buffer.from("two\n"), "second/a file.txt");
    await git.add("second", ["a file.txt"]);
    await git.commit("second", "Second", "A B", "a@b.c");
    await git.push("second");
    await git.pull("first");
    expect((await fs.downloadFile("first/a file.txt")).toString()).toBe("two\n");
  });

  it("has branches, which are made, listed, checked out and deleted", async () => {
    const { git } = sandbox;
    await git.createBranch("first", "topic");
    await expect(git.createBranch("first", "topic")).rejects.toThrow(DaytonaGitBranchExistsError);
    await git.checkoutBranch("first", "topic");
    expect(await git.branches("first")).toMatchObject({ branches: ["main", "topic"], current: "topic" });
    await git.checkoutBranch("first", "main");
    await git.deleteBranch("first", "topic");
    expect((await git.branches("first")).branches).toEqual(["main"]);
  });

  it("takes changes back", async () => {
    const { git, fs } = sandbox;
    await fs.uploadFile(Buffer.from("spoiled\n"), "first/a file.txt");
    await git.restore("first", ["a file.txt"], false, true);
    expect((await fs.downloadFile("first/a file.txt")).toString()).toBe("two\n");
    await git.add("first", ["new"]);
    await git.reset("first", undefined, undefined, ["new"]);
    expect((await git.status("first")).fileStatus).toMatchObject([{ name: "new", staging: "Untracked" }]);
  });

  it("has remotes and settings", async () => {
    const { git } = sandbox;
    await git.remoteAdd("first", "other", "https://example.invalid/x.git");
    expect((await git.remotes("first")).remotes.map(({ name }) => name)).toEqual(["origin", "other"]);
    await git.setConfig("user.name", "Somebody", "local", "first");
    expect(await git.getConfig("user.name", "local", "first")).toBe("Somebody");
    expect(await git.getConfig("no.such", "local", "first")).toBeUndefined();
    await git.configureUser("Glo Bal", "g@b.c");
    expect(await git.getConfig("user.email")).toBe("g@b.c");
  });

  it("tells what is wrong by the SDK's own errors", async () => {
    const { git, fs } = sandbox;
    await expect(git.status("nowhere")).rejects.toThrow(DaytonaGitRepoNotFoundError);
    await expect(git.clone("/no/such.git", "third")).rejects.toThrow(DaytonaGitRepoNotFoundError);
    await fs.uploadFile(Buffer.from("theirs\n"), "second/other");
    await git.add("second", ["other"]);
    await git.commit("second", "Theirs", "A B", "a@b.c");
    await git.push("second");
    await git.commit("first", "Mine", "A B", "a@b.c", true);
    await expect(git.push("first")).rejects.toThrow(DaytonaGitPushRejectedError);
  });
});
