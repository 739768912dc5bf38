import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm(), {});
});
afterAll(() => sandbox.destroy());

/** Runs a cell that must succeed, and gives its value. */
async function value(code: string): Promise<unknown> {
  const cell = await sandbox.runCode(code);
  expect(cell.error?.traceback ?? cell.reason).toBe("exited");
  return cell.value;
}

describe("files as Python sees them", () => {
  it("has the directories that every sandbox has, writable", async () => {
    expect(
      await value(`
import os, pathlib
for d in ("/workspace", "/app", "/tmp", "/tools", "/home/user"):
    pathlib.Path(d, "probe").write_text(d)
    assert pathlib.Path(d, "probe").read_text() == d
    os.remove(d + "/probe")
os.getcwd()`),
    ).toBe("/workspace");
  });

  it("opens in every mode as POSIX does", async () => {
    expect(
      await value(`
with open("modes", "w") as f: f.write("one\\n")
with open("modes", "a") as f: f.write("two\\n")
with open("modes", "r+") as f:
    f.seek(0); f.write("ONE")
    f.seek(0, 2); f.write("three\\n")
try: open("modes", "x"); clash = None
except FileExistsError as e: clash = e.errno
with open("modes", "rb+") as f:
    f.truncate(5); f.seek(8); f.write(b"!")
[open("modes", "rb").read().hex(), clash]`),
    ).toEqual([Buffer.from("ONE\nt\0\0\0!").toString("hex"), 20]);
  });

  it("keeps an open file usable through rename and unlink", async () => {
    expect(
      await value(`
f = open("held", "w+"); f.write("before "); f.flush()
os.rename("held", "moved"); f.write("after"); f.flush()
moved = open("moved").read()
os.unlink("moved"); f.write("!"); f.flush(); f.seek(0)
[moved, f.read(), os.fstat(f.fileno()).st_nlink, os.path.exists("moved")]`),
    ).toEqual(["before after", "before after!", 0, false]);
  });

  it("replaces with rename, and refuses what POSIX refuses", async () => {
    expect(
      await value(`
import errno
def failure(f, *a):
    try: f(*a)
    except OSError as e: return errno.errorcode[e.errno]
os.makedirs("d/e"); open("d/e/file", "w").close(); open("a", "w").write("A"); open("b", "w").write("B")
os.replace("a", "b")
[open("b").read(), failure(os.rename, "d", "d/e/inside"), failure(os.rmdir, "d"), failure(os.rename, "b", "d"),
 failure(os.unlink, "d"), failure(os.mkdir, "d"), failure(os.listdir, "b"), failure(open, "nothing/there"),
 failure(os.rename, "/lib", "/tmp/lib"), failure(open, "x" * 300, "w")]`),
    ).toEqual([
      "A",
      "EINVAL",
      "ENOTEMPTY",
      "EISDIR",
      "EISDIR",
      "EEXIST",
      "ENOTDIR",
      "ENOENT",
      expect.any(String),
      "ENAMETOOLONG",
    ]);
  });

  it("follows symbolic links, and tells them from what they lead to", async () => {
    expect(
      await value(`
os.makedirs("links/dir", exist_ok=True); open("links/dir/f", "w").write("linked")
os.symlink("dir/f", "links/rel"); os.symlink("/workspace/links/dir", "links/abs"); os.symlink("links/loop", "/workspace/links/loop")
import stat
loop = failure(open, "links/loop/x")
[open("links/rel").read(), open("links/abs/f").read(), os.readlink("links/rel"), stat.S_ISLNK(os.lstat("links/rel").st_mode),
 os.path.getsize("links/rel"), os.path.realpath("links/abs/f"), loop is not None]`),
    ).toEqual(["linked", "linked", "dir/f", true, 6, "/workspace/links/dir/f", true]);
  });

  it("keeps modes and times", async () => {
    expect(
      await value(`
open("meta", "w").close(); first = oct(os.stat("meta").st_mode & 0o777)
os.chmod("meta", 0o751); os.utime("meta", (1000, 2000.5))
s = os.stat("meta")
[first, oct(s.st_mode & 0o777), s.st_atime, s.st_mtime]`),
    ).toEqual(["0o644", "0o751", 1000, 2000.5]);
  });

  it("works under shutil, tempfile, zipfile, sqlite3, glob and mmap", async () => {
    expect(
      await value(`
import shutil, tempfile, zipfile, sqlite3, glob, mmap
with tempfile.TemporaryDirectory() as t:
    p = pathlib.Path(t)
    (p / "tree/sub").mkdir(parents=True); (p / "tree/sub/x.txt").write_text("x" * 1000)
    shutil.copytree(p / "tree", p / "copy"); shutil.make_archive(str(p / "z"), "zip", p / "copy")
    names = zipfile.ZipFile(p / "z.zip").namelist()
    shutil.rmtree(p / "tree")
    db = sqlite3.connect(p / "data.db")
    db.execute("create table t(a)"); db.executemany("insert into t values (?)", [(i,) for i in range(1000)]); db.commit()
    total = db.execute("select sum(a) from t").fetchone()[0]; db.close()
    again = sqlite3.connect(p / "data.db").execute("select count(*) from t").fetchone()[0]
    with open(p / "m", "wb+") as f:
        f.write(b"0123456789"); f.flush()
        m = mmap.mmap(f.fileno(), 10); found = m[2:5].decode(); m.close()
    left = sorted(os.path.basename(n) for n in glob.glob(t + "/*"))
with tempfile.NamedTemporaryFile() as n: n.write(b"1")
["sub/x.txt" in names, total, again, found, left, os.path.exists(t)]`),
    ).toEqual([true, 499500, 1000, "234", ["copy", "data.db", "m", "z.zip"], false]);
  });

  it("takes any name", async () => {
    const names = ["a b", "-rf", "quo'te\"", "new\nline", "日本語", "emoji 🦀", ".hidden", "back\\slash", "$HOME", "*"];
    const made = await value(
      `names = ${JSON.stringify(names)}\nos.mkdir("odd")\nfor n in names: open("odd/" + n, "w").write(n)\nsorted(os.listdir("odd"))`,
    );
    expect(made).toEqual([...names].sort());
    const listed = await sandbox.files.list("odd");
    expect(listed.map(({ path }) => path.slice("/workspace/odd/".length))).toEqual([...names].sort());
    for (const name of names) expect(await sandbox.files.readText(`odd/${name}`)).toBe(name);
  });

  it("shares files with the host and with programs while a cell runs", async () => {
    const cell = sandbox.runCode(`
import time
while not os.path.exists("from-host"): time.sleep(0.01)
open("draft", "w").write(open("from-host").read().upper()); os.rename("draft", "answer")
while not os.path.exists("from-exec"): time.sleep(0.01)
open("from-exec").read()`);
    await sandbox.files.write("from-host", "hello");
    while (!(await sandbox.files.exists("answer"))) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await sandbox.files.readText("answer")).toBe("HELLO");
    await sandbox.exec([
      "python3",
      "-c",
      "open('tmp', 'w').write('program'); import os; os.rename('tmp', 'from-exec')",
    ]);
    expect((await cell).value).toBe("program");
  });

  it("appends from several programs without losing a line", async () => {
    const program = "import sys\nfor i in range(50):\n    with open('log', 'a') as f: f.write(sys.argv[1] + '\\n')";
    await Promise.all(["a", "b", "c", "d"].map((name) => sandbox.exec(["python3", "-c", program, name])));
    expect((await sandbox.files.readText("log")).split("\n").length - 1).toBe(200);
  });
});
