import { strict as assert } from "node:assert";
import { equalBytes, failure, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { allBytes, multibyte, pattern } from "../material.js";

/** Files are read and written exactly. */
export const fileCases: readonly ConformanceCase[] = [
  {
    id: "files.bytes",
    title: "bytes are read back exactly, NUL and invalid UTF-8 included",
    needs: ["files"],
    reports: ["labring/FastGPT#7433", "vercel-labs/agent-eval#176"],
    async run({ shared, path }) {
      await shared.files.write(path("data.bin"), allBytes);
      equalBytes(await shared.files.read(path("data.bin")), allBytes);
    },
  },
  {
    id: "files.text",
    title: "text is written as UTF-8 and read back as it was",
    needs: ["files"],
    async run({ shared, path }) {
      const text = `\ufeff${multibyte}\r\nlast line`;
      await shared.files.write(path("text"), text);
      assert.equal(await shared.files.readText(path("text")), text);
      equalBytes(await shared.files.read(path("text")), Buffer.from(text));
    },
  },
  {
    id: "files.text.long",
    title: "long text is text, wherever its characters are cut",
    needs: ["files"],
    reports: ["langchain-ai/deepagents#2983", "langchain-ai/deepagents#2987"],
    async run({ shared, path }) {
      const text = `${"a".repeat(8191)}${"漢🎈é".repeat(50_000)}`;
      await shared.files.write(path("text"), text);
      assert.ok((await shared.files.readText(path("text"))) === text, "the text differs");
    },
  },
  {
    id: "files.not-text",
    title: "readText refuses invalid UTF-8 with NOT_TEXT",
    needs: ["files"],
    reports: ["labring/FastGPT#7433"],
    async run({ shared, path }) {
      await shared.files.write(path("image.png"), Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff));
      await rejects(shared.files.readText(path("image.png")), "NOT_TEXT", "image.png");
    },
  },
  {
    id: "files.empty",
    title: "an empty file is a file",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("empty"), "");
      assert.equal((await shared.files.read(path("empty"))).length, 0);
      const { type, size } = await shared.files.stat(path("empty"));
      assert.deepEqual([type, size], ["file", 0]);
    },
  },
  {
    id: "files.parents",
    title: "missing directories on the way to a file are made",
    needs: ["files"],
    reports: ["computesdk/computesdk#782", "computesdk/computesdk#769"],
    async run({ shared, path }) {
      await shared.files.write(path("a/b/c/file"), "deep");
      assert.equal(await shared.files.readText(path("a/b/c/file")), "deep");
      await shared.files.mkdir(path("d/e/f"));
      await shared.files.mkdir(path("d/e/f"));
      assert.equal((await shared.files.stat(path("d/e/f"))).type, "directory");
    },
  },
  {
    id: "files.overwrite",
    title: "writing replaces the whole content, also with less",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "a long content");
      await shared.files.write(path("file"), "short");
      assert.equal(await shared.files.readText(path("file")), "short");
    },
  },
  {
    id: "files.append",
    title: "append adds to the end and makes what is not there",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("log"), "one ", { mode: "append" });
      await shared.files.write(path("log"), "two", { mode: "append" });
      assert.equal(await shared.files.readText(path("log")), "one two");
    },
  },
  {
    id: "files.exclusive",
    title: "exclusive refuses a file that is there with FILE_EXISTS and leaves it alone",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "first", { mode: "exclusive" });
      await rejects(shared.files.write(path("file"), "second", { mode: "exclusive" }), "FILE_EXISTS", "file");
      assert.equal(await shared.files.readText(path("file")), "first");
    },
  },
  {
    id: "files.if-modified-at",
    title: "ifModifiedAt writes over the version that was seen and refuses another with CONFLICT",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), "first");
      const { modifiedAt } = await shared.files.stat(path("file"));
      const stale = new Date(modifiedAt.getTime() - 5_000);
      await rejects(shared.files.write(path("file"), "lost", { ifModifiedAt: stale }), "CONFLICT", "file");
      assert.equal(await shared.files.readText(path("file")), "first");
      await shared.files.write(path("file"), "second", { ifModifiedAt: modifiedAt });
      assert.equal(await shared.files.readText(path("file")), "second");
    },
  },
  {
    id: "files.permissions",
    title: "a file is written with the permissions asked for and keeps them when written again",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("plain"), "");
      assert.equal((await shared.files.stat(path("plain"))).mode, 0o644);
      await shared.files.write(path("tool"), "#!/bin/sh\n", { permissions: 0o755 });
      await shared.files.write(path("tool"), "#!/bin/sh\nprintf made\n");
      assert.equal((await shared.files.stat(path("tool"))).mode, 0o755);
    },
  },
  {
    id: "files.permissions.executable",
    title: "a script written as executable can be run",
    needs: ["files", "exec.argv"],
    traits: ["sh", "fork"],
    async run({ shared, path }) {
      await shared.files.write(path("tool"), "#!/bin/sh\nprintf '%s' \"$1\"\n", { permissions: 0o755 });
      const result = await shared.exec([`${shared.workdir}/${path("tool")}`, "made"]);
      assert.equal(result.orThrow().stdout.text, "made");
    },
  },
  {
    id: "files.atomic.failed-write",
    title: "a write that fails half way leaves the old content and nothing beside it",
    needs: ["files"],
    async run({ shared, path }) {
      await shared.files.write(path("kept/file"), "old");
      const broken = new Error("the source broke");
      let pieces = 0;
      const data = new ReadableStream<Uint8Array>({
        pull(controller) {
          pieces += 1;
          if (pieces > 3) controller.error(broken);
          else controller.enqueue(new Uint8Array(100_000));
        },
      });
      assert.equal(await failure(shared.files.write(path("kept/file"), data)), broken);
      assert.equal(await shared.files.readText(path("kept/file")), "old");
      assert.equal((await shared.files.list(path("kept"))).length, 1);
    },
  },
  {
    id: "files.atomic.reader",
    title: "a reader sees the old content or the new, never a mixture",
    needs: ["files"],
    async run({ shared, path }) {
      const versions = ["a", "b"].map((letter) => letter.repeat(300_000));
      const [first = "", second = ""] = versions;
      await shared.files.write(path("file"), first);
      const writing = (async () => {
        for (let round = 0; round < 10; round++) await shared.files.write(path("file"), round % 2 ? first : second);
      })();
      let over = false;
      writing.finally(() => (over = true)).catch(() => undefined);
      while (!over) {
        const seen = await shared.files.readText(path("file"));
        assert.ok(versions.includes(seen), `a reader saw ${seen.length} characters of neither version`);
      }
      await writing;
    },
  },
  {
    id: "files.range",
    title: "a range gives exactly its bytes; past the end there are none",
    needs: ["files"],
    async run({ shared, path }) {
      const bytes = pattern(300_000);
      await shared.files.write(path("file"), bytes);
      const range = (offset: number, length?: number) => shared.files.read(path("file"), { offset, length });
      equalBytes(await range(0, 10), bytes.subarray(0, 10));
      equalBytes(await range(100_001, 150_000), bytes.subarray(100_001, 250_001));
      equalBytes(await range(299_990), bytes.subarray(299_990));
      equalBytes(await range(299_990, 1_000), bytes.subarray(299_990));
      equalBytes(await range(5, 0), new Uint8Array());
      equalBytes(await range(300_000), new Uint8Array());
      equalBytes(await range(400_000, 5), new Uint8Array());
    },
  },
  {
    id: "files.too-large",
    title: "a read above maxBytes is TOO_LARGE, one of exactly maxBytes is not",
    needs: ["files"],
    reports: ["langchain-ai/deepagents#4408", "superserve-ai/superserve#234"],
    async run({ shared, path }) {
      await shared.files.write(path("file"), new Uint8Array(1_000));
      await rejects(shared.files.read(path("file"), { maxBytes: 999 }), "TOO_LARGE", "999");
      assert.equal((await shared.files.read(path("file"), { maxBytes: 1_000 })).length, 1_000);
      assert.equal((await shared.files.read(path("file"), { length: 10, maxBytes: 10 })).length, 10);
    },
  },
  {
    id: "files.write-all",
    title: "writeAll writes every file, of every kind of content",
    needs: ["files"],
    async run({ shared, path }) {
      const stream = new Blob(["streamed"]).stream();
      const files = { [path("all/text")]: "text", [path("all/bytes")]: allBytes, [path("all/sub/stream")]: stream };
      await shared.files.writeAll(files);
      assert.equal(await shared.files.readText(path("all/text")), "text");
      equalBytes(await shared.files.read(path("all/bytes")), allBytes);
      assert.equal(await shared.files.readText(path("all/sub/stream")), "streamed");
    },
  },
  {
    id: "files.seen-by-programs",
    title: "programs and the files interface see the same files",
    needs: ["files", "exec.argv"],
    programs: ["read", "write"],
    async run({ shared, program, path }) {
      await shared.files.write(path("from-outside"), multibyte);
      assert.equal((await shared.exec(program("read", path("from-outside")))).stdout.text, multibyte);
      (await shared.exec(program("write", path("from-inside"), multibyte))).orThrow();
      assert.equal(await shared.files.readText(path("from-inside")), multibyte);
    },
  },
];
