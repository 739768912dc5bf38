import { createSandbox, type Sandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

/** Builds a wheel and lays it out as a package index (PEP 503), which the sandbox serves to itself. */
const makeIndex = `
import base64, hashlib, pathlib, zipfile
root = pathlib.Path("/tmp/index/simple/textstats"); root.mkdir(parents=True)
files = {
    "textstats/__init__.py": "def words(text):\\n    return len(text.split())\\n",
    "textstats-1.2.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: textstats\\nVersion: 1.2.0\\n",
    "textstats-1.2.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}\\n" for name, text in files.items())
wheel = root / "textstats-1.2.0-py3-none-any.whl"
with zipfile.ZipFile(wheel, "w") as archive:
    for name, text in files.items(): archive.writestr(name, text)
    archive.writestr("textstats-1.2.0.dist-info/RECORD", record + "textstats-1.2.0.dist-info/RECORD,,\\n")
digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
(root / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')
`;

const analyzer = `import textstats


def analyze(text):
    return {"words": textstats.words(text), "letters": len(text)}
`;

const tests = `from analyzer import analyze


def test_words():
    assert analyze("one two three")["words"] == 3


def test_letters():
    assert analyze("one two")["letters"] == 6
`;

async function serveIndex(sandbox: Sandbox): Promise<void> {
  expect(await sandbox.exec(["python3", "-c", makeIndex])).toMatchObject({ exitCode: 0 });
  const server = await sandbox.spawn("exec python3 -u -m http.server 8000 --bind 127.0.0.1 --directory /tmp/index");
  for await (const _ of server.stdout) break;
}

describeOnEngine("the sequence of a coding agent in a container", () => {
  it("creates, writes, installs, tests, fixes, tests again and destroys", { timeout: 120_000 }, async () => {
    const sandbox = await createSandbox(docker({ images: { "python-3.12": testImages.python } }), {
      template: "python-3.12",
    });
    try {
      await serveIndex(sandbox);
      await sandbox.files.write("/app/analyzer.py", analyzer);
      await sandbox.files.write("/app/test_analyzer.py", tests);
      const install = await sandbox.exec("pip install --index-url http://127.0.0.1:8000/simple textstats==1.2.0");
      expect([install.exitCode, install.stdout.text]).toEqual([0, expect.stringContaining("textstats-1.2.0")]);

      const first = await sandbox.exec("cd /app && python -m pytest -v");
      expect(first.exitCode).toBe(1);
      expect(first.stdout.text).toMatch(/test_words PASSED[\s\S]*test_letters FAILED/);

      const fixed = analyzer.replace("len(text)", 'len(text.replace(" ", ""))');
      await sandbox.files.write("/app/analyzer.py", fixed);
      const second = await sandbox.exec("cd /app && python -m pytest -v");
      expect([second.exitCode, second.stdout.text]).toEqual([0, expect.stringContaining("2 passed")]);
    } finally {
      await sandbox.destroy();
    }
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
