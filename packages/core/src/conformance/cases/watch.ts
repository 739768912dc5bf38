import { strict as assert } from "node:assert";
import type { FileChange } from "../../provider.js";
import type { Sandbox } from "../../sandbox.js";
import { eventually, failure, rejects, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** What a watch tells, as `type path` below its directory; of the names that begin with `start`, nothing. */
class Watching {
  readonly told: string[] = [];
  readonly ended: Promise<void>;
  readonly #changes: AsyncIterator<FileChange>;
  readonly #root: string;

  private constructor(sandbox: Sandbox, path: string, recursive: boolean, signal?: AbortSignal) {
    this.#root = `${sandbox.workdir}/${path}`;
    this.#changes = sandbox.files.watch(path, { recursive, signal })[Symbol.asyncIterator]();
    this.ended = this.#listen();
    this.ended.catch(() => undefined);
  }

  /** Resolves once changes are told. */
  static async start(sandbox: Sandbox, path: string, recursive: boolean, signal?: AbortSignal): Promise<Watching> {
    const watching = new Watching(sandbox, path, recursive, signal);
    let tries = 0;
    await eventually("the first change", async () => {
      await sandbox.files.write(`${path}/start-${tries++}`, "");
      return watching.told.length > 0;
    });
    return watching;
  }

  async #listen(): Promise<void> {
    for (let next = await this.#changes.next(); !next.done; next = await this.#changes.next()) {
      const { type, path } = next.value;
      this.told.push(`${type} ${path.slice(this.#root.length + 1)}`);
    }
  }

  /** The changes until one of this name is told, without repetitions. */
  async until(name: string): Promise<string[]> {
    await eventually(`a change of ${name}`, () => this.told.some((change) => change.endsWith(` ${name}`)));
    return this.told.filter((change, index) => !change.includes(" start-") && change !== this.told[index - 1]);
  }

  async stop(): Promise<void> {
    await this.#changes.return?.();
  }
}

/** The order in which these were told, others left out. */
function order(told: readonly string[], ...changes: readonly string[]): string[] {
  return told.filter((change) => changes.includes(change));
}

/** Changes of files are told as they happen. */
export const watchCases: readonly ConformanceCase[] = [
  {
    id: "files.watch",
    title: "changes in a directory are told in order, and no others",
    needs: ["files.watch", "files"],
    async run({ shared, path }) {
      const { files } = shared;
      await files.mkdir(path("in/sub"));
      const watching = await Watching.start(shared, path("in"), false);
      await files.write(path("outside"), "");
      await files.write(path("in/sub/deep"), "");
      await files.write(path("in/a b"), "one");
      await files.write(path("in/a b"), " two", { mode: "append" });
      await files.move(path("in/a b"), path("in/c"));
      await files.remove(path("in/c"));
      await files.write(path("in/last"), "");
      const told = await watching.until("last");
      const wanted = ["created a b", "changed a b", "removed a b", "created c", "removed c"];
      assert.deepEqual([...new Set(order(told, ...wanted))], wanted, told.join(", "));
      assert.ok(!told.some((change) => change.includes("deep") || change.includes("outside")), told.join(", "));
      await watching.stop();
      await files.write(path("in/after"), "");
      assert.ok(!watching.told.some((change) => change.includes("after")));
    },
  },
  {
    id: "files.watch.recursive",
    title: "changes below a directory are told too, in new and moved directories as well",
    needs: ["files.watch", "files"],
    async run({ shared, path }) {
      const { files } = shared;
      await files.write(path("in/old/file"), "");
      await files.write(path("away/full/file"), "");
      const watching = await Watching.start(shared, path("in"), true);
      await files.write(path("in/old/file"), "x", { mode: "append" });
      await files.write(path("in/new/deep/file"), "");
      await watching.until("new/deep/file");
      await files.move(path("away/full"), path("in/full"));
      await watching.until("full/file");
      await files.move(path("in/full"), path("in/moved"));
      await watching.until("moved/file");
      await files.write(path("in/moved/later"), "");
      const told = await watching.until("moved/later");
      const wanted = ["changed old/file", "created new", "created new/deep", "created new/deep/file", "created full"];
      wanted.push("created full/file", "removed full", "created moved", "created moved/file", "created moved/later");
      assert.deepEqual(order(told, ...wanted), wanted, told.join(", "));
      await watching.stop();
    },
  },
  {
    id: "files.watch.end",
    title: "a watch ends with its signal, with its directory and for what is no directory",
    needs: ["files.watch", "files"],
    async run({ shared, path }) {
      const { files } = shared;
      await files.write(path("in/file"), "");
      const stop = new AbortController();
      const aborted = await Watching.start(shared, path("in"), false, stop.signal);
      const watching = await Watching.start(shared, path("in"), false);
      stop.abort(new Error("enough"));
      assert.equal(await within(5_000, "the aborted watch", failure(aborted.ended)), stop.signal.reason);
      await files.remove(path("in"), { recursive: true });
      await within(5_000, "the watch", watching.ended);
      assert.equal(watching.told.at(-1), "removed ", watching.told.join(", "));
      const first = (name: string) => files.watch(path(name))[Symbol.asyncIterator]().next();
      await rejects(first("missing"), "FILE_NOT_FOUND", "missing");
      await files.write(path("file"), "");
      await rejects(first("file"), "NOT_DIRECTORY", "file");
    },
  },
  {
    id: "files.watch.sandbox",
    title: "a watch ends with its sandbox",
    needs: ["files.watch", "files"],
    async run({ sandbox }) {
      const own = await sandbox();
      await own.files.mkdir("in");
      const watching = await Watching.start(own, "in", true);
      await own.destroy();
      await within(10_000, "the watch", rejects(watching.ended, ["NOT_FOUND", "SANDBOX_LOST"]));
    },
  },
  {
    id: "files.watch.bound",
    title: "changes that nobody takes end a watch with TOO_LARGE, and are not kept without bound",
    needs: ["files.watch", "files", "exec"],
    async run({ shared, path }) {
      await shared.files.mkdir(path("in"));
      const changes = shared.files.watch(path("in"))[Symbol.asyncIterator]();
      const first = changes.next();
      await eventually("the first change", async () => {
        await shared.files.write(path("in/start"), "");
        return Promise.race([first, false]);
      });
      const count = 25_000;
      const many = `cd "$1"; i=0; while [ $i -lt ${count} ]; do : > a$((i % 7)); i=$((i + 1)); done`;
      (await shared.exec(["sh", "-c", many, "many", `${shared.workdir}/${path("in")}`])).orThrow();
      const take = async () => {
        let taken = 0;
        for (let next = await changes.next(); !next.done && taken < 4 * count; next = await changes.next()) taken += 1;
      };
      await rejects(take(), "TOO_LARGE", "watch");
    },
  },
];
