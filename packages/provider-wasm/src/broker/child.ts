/**
 * Entry of the child process: one sandbox. Its main thread is the broker, which owns the files and speaks with the
 * caller's process; guest code runs in worker threads only. The process ends with its parent.
 */

import { sitePackages } from "../packages/wheel-layout.js";
import type { CallName, Calls, ChildOptions, FromChild, ToChild } from "../protocol.js";
import { loadAssets } from "./assets.js";
import { changePackages } from "./change-packages.js";
import { collectGarbage } from "./collect-garbage.js";
import { FileError } from "./file-error.js";
import { FileNews } from "./file-news.js";
import { FileSystem } from "./filesystem.js";
import { HostCommands } from "./host-commands.js";
import { HostFiles } from "./host-files.js";
import { HttpRelay } from "./http-relay.js";
import { installedPackages } from "./installed-packages.js";
import type { Job, JobListener } from "./job.js";
import { Jobs } from "./jobs.js";
import { watchLimits } from "./limits.js";
import { ensureDirectory } from "./path-resolver.js";

type Handlers = {
  readonly [Name in CallName]: (...args: Calls[Name]["args"]) => Calls[Name]["result"] | Promise<Calls[Name]["result"]>;
};

const mebibyte = 1024 * 1024;
/** Calls that leave all files as they are; what a program does to them is told by itself. */
const reading: ReadonlySet<CallName> = new Set<CallName>([
  "start",
  "write",
  "closeInput",
  "signal",
  "cell",
  "interrupt",
  "end",
  "packages",
  "stat",
  "list",
  "openRead",
  "read",
  "closeRead",
]);
const directories = ["/workspace", "/app", "/tmp", "/tools", "/home/user", sitePackages];

// Nothing may outlive the caller, however busy the workers are.
const end = () => {
  process.kill(process.pid, "SIGKILL");
  // The first process of a namespace goes on: it is deaf to what it sends to itself.
  process.abort();
};
process.on("disconnect", end);
// It may have gone before there was anybody to notice.
if (!process.connected) end();
// Ctrl-C in a terminal reaches the whole group; what it means for the sandbox is the caller's to say.
process.on("SIGINT", () => undefined);

const options = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
const news = new FileNews(() => send({ type: "changed" }));
const files = new FileSystem(options.diskMiB * mebibyte, () => news.changed());
for (const path of directories) ensureDirectory(files, path);
ensureDirectory(files, "/tmp").mode = 0o1777;

const hostFiles = new HostFiles(files);
const commands = new HostCommands(send);
const relay = new HttpRelay((message) => send({ type: "http", message }));
const jobs = new Jobs(options, files, relay, listen);
const { assets, caches, cached } = loadAssets(options);
jobs.supply(assets, caches);
watchLimits(jobs, options, () => files.quota.used);
process.on("message", (message: ToChild) => {
  if (message.type === "ping") send({ type: "pong" });
  else if (message.type === "http") relay.receive(message.message);
  else if (message.type === "commandDone") commands.done(message.id, message.result);
  else if (message.type === "taken") jobs.get(message.job)?.taken(message.stream, message.bytes);
  else void answer(message);
});
if (options.warmFirst) {
  await jobs.warmed();
  collectGarbage();
}
send({ type: "ready", cached });

function listen(id: string): Omit<JobListener, "started" | "released"> {
  return {
    output: (stream, bytes) => send({ type: "output", job: id, stream, bytes }),
    ended: (exit) => send({ type: "ended", job: id, exit }),
    command: (argv, cwd, done) => commands.start(argv, cwd, done),
  };
}

async function answer({ id, name, args }: Extract<ToChild, { type: "call" }>): Promise<void> {
  try {
    // The arguments come from our own caller, with the types of `Calls`.
    const handler = handlers()[name] as (...args: readonly unknown[]) => unknown;
    const value = (await handler(...args)) ?? null;
    if (!reading.has(name)) files.changed();
    send({ type: "result", id, value });
  } catch (error) {
    files.changed();
    const errno = error instanceof FileError ? error.errno : "EIO";
    send({ type: "failure", id, errno, message: error instanceof Error ? error.message : String(error) });
  }
}

function handlers(): Handlers {
  const onJob = async (id: string, action: (job: Job) => unknown): Promise<null> => {
    const job = jobs.get(id);
    // One that has ended takes input and signals without a word.
    if (job) await action(job);
    return null;
  };
  const done = (action: () => void): null => {
    action();
    return null;
  };
  return {
    claim: ({ diskMiB, workdir }) =>
      done(() => {
        files.quota.limit = diskMiB * mebibyte;
        if (files.quota.used > files.quota.limit) throw new FileError("ENOSPC", "its packages");
        ensureDirectory(files, workdir);
      }),
    start: (id, job, place) => jobs.start(id, job, place),
    write: (id, bytes) => onJob(id, (job) => job.write(bytes)),
    closeInput: (id) => onJob(id, (job) => job.closeInput()),
    signal: (id, signal) => onJob(id, (job) => job.signal(signal)),
    cell: (id, code) => {
      const job = jobs.get(id);
      // The caller knows by the kernel's end that this cell never ran.
      return job ? job.cell(code) : new Promise(() => undefined);
    },
    interrupt: (id) => onJob(id, (job) => job.interrupt()),
    end: (id) => onJob(id, (job) => job.end({ exitCode: null, signal: "SIGKILL" })),
    changePackages: (change) => changePackages(files, change),
    packages: () => installedPackages(files),
    stat: (path, follow) => hostFiles.stat(path, follow),
    list: (path, listing) => {
      news.listed();
      return hostFiles.list(path, listing);
    },
    mkdir: (path) => done(() => hostFiles.mkdir(path)),
    move: (from, to) => done(() => hostFiles.move(from, to)),
    symlink: (target, path) => done(() => hostFiles.symlink(target, path)),
    remove: (path, recursive) => hostFiles.remove(path, recursive),
    openRead: (path, offset) => hostFiles.openRead(path, offset),
    read: (handle, length) => hostFiles.read(handle, length),
    closeRead: (handle) => done(() => hostFiles.closeRead(handle)),
    openWrite: (path, write) => hostFiles.openWrite(path, write),
    append: (handle, bytes) => done(() => hostFiles.append(handle, bytes)),
    commit: (handle) => done(() => hostFiles.commit(handle)),
    abandon: (handle) => done(() => hostFiles.abandon(handle)),
  };
}

function send(message: FromChild): void {
  process.send?.(message);
}
