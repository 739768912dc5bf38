import { createServer, type Server } from "node:net";
import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

/** Each tries one way out and gives what it found; `leak(text)` is called with anything that came from the host. */
const routes: Readonly<Record<string, string>> = {
  "names in js": `
import js
found = [n for n in ("process", "require", "globalThis", "fetch", "Worker", "WebSocket", "XMLHttpRequest", "Deno", "Buffer", "eval") if hasattr(js, n)]`,
  run_js: "from pyodide.code import run_js\nfound = run_js('globalThis.process')",
  "Function by way of a constructor":
    "from pyodide.ffi import to_js\nfound = to_js([]).constructor.constructor('return process')()",
  "Function by way of an async function": `
import pyodide_js
found = pyodide_js.loadPackage.constructor("return process")()`,
  "a host function's constructor": `
import _sandkit.host as h
found = h._call.constructor("return process")()`,
  "a host function's caller": "import _sandkit.host as h\nfound = h._call.caller or h._call.arguments",
  "an error's stack": `
import pyodide_js
try: pyodide_js._module.stringToNewUTF8(pyodide_js)
except BaseException as e: found = [getattr(e, "stack", None) or "", str(e)]`,
  "a host call with bad arguments": `
import _sandkit.host as h
try: h._call(h, h, h, h)
except BaseException as e: found = [str(e), getattr(getattr(e, "js_error", e), "stack", "")]`,
  "node files": "import pyodide_js\npyodide_js.mountNodeFS('/mnt', '/')\nimport os\nfound = os.listdir('/mnt')",
  NODEFS: `
import pyodide_js, os
os.mkdir("/tmp/nodefs")
pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, {"root": "/"}, "/tmp/nodefs")
found = os.listdir("/tmp/nodefs")`,
  "dynamic import":
    "import pyodide_js\nfound = pyodide_js._api.importlib and __import__('js').eval('import(\"node:fs\")')",
  "os.system":
    "import os\nos.system('cat /etc/passwd /proc/self/environ > /tmp/seen 2>/dev/null; env >> /tmp/seen; ls / >> /tmp/seen')\nfound = [w for w in ('root:', 'host-secret', 'boot', 'etc') if w in open('/tmp/seen').read()]",
  "system by ctypes": "import ctypes\nfound = ctypes.CDLL(None).system(b'id') == 0",
  subprocess:
    "import subprocess\nfound = subprocess.run(['/bin/sh', '-c', 'cat /etc/hostname; echo $SANDKIT_TEST_SECRET'], capture_output=True).stdout.strip()",
  "a program of the host by its path": "import subprocess\nfound = subprocess.run(['/usr/bin/git', '--version'])",
  fork: "import os\nfound = os.fork()",
  "host files": "found = [open(p).read() for p in ('/etc/passwd', '/etc/hostname')]",
  "proc environ": "found = open('/proc/self/environ').read()",
  "other processes": "import os\nfound = [n for n in os.listdir('/proc') if n.isdigit()]",
  environment: "import os\nfound = [v for v in os.environ.values() if 'host-secret' in v]",
  "signals to the host": "import os\nfound = os.kill(os.getppid(), 0) or os.kill(1, 15)",
  socket: "import socket\ns = socket.create_connection(('127.0.0.1', PORT), 1); s.sendall(b'x')\nfound = s.recv(1)",
  urllib: "import urllib.request\nfound = urllib.request.urlopen('http://127.0.0.1:PORT/', timeout=1).read()",
  "the link's memory": `
import pyodide_js
buffer = pyodide_js._module.Py_EmscriptenSignalBuffer.buffer
found = [] if buffer.byteLength <= 64 else [buffer.byteLength]`,
  "another path to the file system": "open('/tmp/../../../etc/passwd')\nfound = True",
};

let server: Server;
let connections = 0;
let port = 0;
beforeAll(async () => {
  process.env.SANDKIT_TEST_SECRET = "host-secret";
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => server.close());

describe.each(["portable", "auto"] as const)("what a guest cannot reach, hardening %s", (hardening) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox(wasm({ hardening }), {});
  });
  afterAll(() => sandbox.destroy());

  for (const [name, code] of Object.entries(routes)) {
    it(name, async () => {
      const cell = await sandbox.runCode(
        `found = None\ntry:\n${indent(code.replaceAll("PORT", `${port}`))}\nexcept BaseException as e:\n    found = None\nstr(found) if found else None`,
        { timeoutMs: 20_000 },
      );
      const text = `${cell.value ?? ""}${cell.stdout.text}${cell.stderr.text}`;
      expect(text).not.toMatch(/host-secret|file:\/\/\/(?!python)|node:|node_modules|root:|uid=|worker\.mjs/);
      const harmless = ["an error's stack", "a host call with bad arguments"];
      if (!harmless.includes(name)) expect(cell.value ?? null).toBeNull();
      expect(connections).toBe(0);
    });
  }

  it("evaluation by ctypes ends the interpreter alone", async () => {
    await sandbox.files.write("kept", "1");
    const cell = await sandbox.runCode(
      "import ctypes\nctypes.CDLL(None).emscripten_run_script(b'globalThis.process.exit(1)')",
      { timeoutMs: 20_000 },
    );
    expect(cell.ok).toBe(false);
    expect((await sandbox.runCode("open('kept').read()")).value).toBe("1");
  });
});

function indent(code: string): string {
  return code
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
