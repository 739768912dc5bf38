import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findArtifacts } from "../src/artifacts.js";
import { loadAssets } from "../src/broker/assets.js";
import type { Pyodide } from "../src/guest/emscripten.js";
import { readPages } from "../src/snapshot/pages.js";
import { openRealm, readInto } from "../src/worker/realm-host.js";
import { openShellRealm } from "../src/worker/shell-realm.js";

/** A running realm as a worker makes it, stopped where it asks for its job, with Pyodide's own object caught. */
async function stoppedRealm() {
  const { directory: artifacts, pyodide } = findArtifacts();
  const { assets } = loadAssets({ artifacts, pyodide, memoryMiB: 512 });
  const { realm, global, create } = openRealm(assets.scripts, {
    call(operation) {
      if (operation === "job") throw new Error("stopped");
      return '{"result":null}';
    },
    write: () => true,
    sleep: () => undefined,
    signals: () => undefined,
    restore(memory) {
      readPages(memory, assets.snapshot, assets.pages);
      return assets.snapshot.state;
    },
    log: () => undefined,
  });
  const globals = global as { loadPyodide: (options: object) => Promise<Pyodide> };
  const load = globals.loadPyodide;
  let python: Pyodide | undefined;
  globals.loadPyodide = async (options) => {
    python = await load(options);
    return python;
  };
  const { module, lock, growPages } = assets;
  await realm.load({ create, module, lock, growPages, restore: true, stdlib: readInto(realm, assets.stdlib) });
  expect(() => realm.run()).toThrow();
  return { global, python };
}

describe("the realm", () => {
  it("reaches no object of the host from anything the guest holds", async () => {
    const { global, python } = await stoppedRealm();
    const roots = Object.assign(Object.create(null), { global, python });
    const { count, leaks } = audit(roots, isPythons(python));
    expect(leaks).toEqual([]);
    expect(count).toBeGreaterThan(5_000);
    // And it would see one.
    Object.assign(python ?? {}, { planted: { host: true } });
    expect(audit(roots, isPythons(python)).leaks).toContain(".python.planted");
  }, 120_000);

  it("is built from the Pyodide that its snapshot names", () => {
    const { directory, pyodide } = findArtifacts();
    const info = JSON.parse(readFileSync(`${directory}/snapshot.json`, "utf8"));
    expect(info.pyodide).toBe(JSON.parse(readFileSync(`${pyodide}/package.json`, "utf8")).version);
  });
});

describe("the shell's realm", () => {
  it("reaches no object of the host and makes no code from strings", async () => {
    const said: string[] = [];
    const collected = ['{"stream":1,"length":3}', '{"exit":{"exitCode":0}}'];
    const { shell, global } = openShellRealm(readFileSync(`${findArtifacts().directory}/shell.js`, "utf8"), {
      call: (operation) => {
        if (operation === "spawn") return '{"program":1}';
        return (operation === "collect" ? collected.shift() : undefined) ?? '{"error":"ENOENT"}';
      },
      write: (_stream, bytes) => said.push(Buffer.from(bytes).toString()) > 0,
    });
    const scripts = [
      "echo $((6 * 7)) | sed s/4/5/",
      "echo zipped | gzip | gunzip; echo damaged | gunzip",
      "timeout 0.01 sleep 5; echo $?",
      "python3 x.py | wc -c",
      "trap 'echo end' EXIT; f() { bash -c 'echo in; exit 3'; }; f; echo ${BASH_VERSION:0:0}; cat /dev/zero",
    ];
    await shell.warmUp(JSON.stringify(scripts));
    expect(said.join("")).toMatch(/^52\nzipped\n[\s\S]*124\n3\nin\n[\s\S]*end\n$/);
    const roots = Object.assign(Object.create(null), { global, shell });
    const { count, leaks } = audit(roots, () => false);
    expect(leaks).toEqual([]);
    expect(count).toBeGreaterThan(500);
    const { Function: Make, WebAssembly: assembly } = global as typeof globalThis;
    expect(() => Make("return 1")).toThrow(/Code generation from strings/);
    expect(() => new assembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))).toThrow();
    expect(Object.keys(global)).not.toEqual(expect.arrayContaining(["process"]));
  });
});

/** Tells proxies of Python objects: each look at one makes new ones, and they lead to Python, not to the host. */
function isPythons(python: unknown): (value: object) => boolean {
  const { PyProxy } = (python as { ffi: { PyProxy: { prototype: object } } }).ffi;
  return (value) => Object.prototype.isPrototypeOf.call(PyProxy.prototype, value);
}

/** Walks everything reachable by properties, accessors, prototypes and collections; tells which objects are the host's. */
function audit(roots: object, isEnd: (value: object) => boolean): { count: number; leaks: string[] } {
  const seen = new Set<object>([roots]);
  const leaks: string[] = [];
  const queue: [object, string][] = [[roots, ""]];
  const visit = (value: unknown, path: string) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) return;
    seen.add(value);
    if (isHosts(value)) leaks.push(path);
    else if (!attempt(() => isEnd(value))) queue.push([value, path]);
    if (seen.size > 500_000) throw new Error(`the graph has no end at ${path.slice(0, 300)}`);
  };
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [object, path] = next;
    for (const [name, value] of reachable(object)) visit(value, `${path}.${name}`);
  }
  return { count: seen.size, leaks };
}

function isHosts(value: object): boolean {
  if (value === Object.prototype || value === Function.prototype) return true;
  // Everything of a realm descends from its own Object.prototype, so one test tells all kinds.
  return Object.prototype.isPrototypeOf.call(Object.prototype, value);
}

function* reachable(object: object): Generator<[string, unknown]> {
  yield ["[[prototype]]", attempt(() => Object.getPrototypeOf(object))];
  // Every byte of the memory would be a key of its own.
  if (ArrayBuffer.isView(object)) {
    yield ["buffer", object.buffer];
    return;
  }
  for (const key of (attempt(() => Reflect.ownKeys(object)) ?? []) as PropertyKey[]) {
    const property = attempt(() => Reflect.getOwnPropertyDescriptor(object, key)) as PropertyDescriptor | undefined;
    yield [`${String(key)}(get)`, property?.get];
    yield [`${String(key)}(set)`, property?.set];
    yield [String(key), property && "value" in property ? property.value : attempt(() => Reflect.get(object, key))];
  }
  for (const [index, pair] of (
    (attempt(() => [...Map.prototype.entries.call(object)]) ?? []) as unknown[][]
  ).entries()) {
    yield [`key${index}`, pair[0]];
    yield [`value${index}`, pair[1]];
  }
  for (const value of (attempt(() => [...Set.prototype.values.call(object)]) ?? []) as unknown[])
    yield ["member", value];
}

/** Guest objects may throw at every touch; what cannot be read cannot be reached that way. */
function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
